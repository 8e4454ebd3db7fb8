/** A store in memory, a fake Temporal, and the projector and reader between them. */
import { onTestFinished } from 'vitest';
import { Projector } from '../../../src/projection/projector/projector.js';
import { createStoreReader } from '../../../src/projection/reading/store-reader.js';
import type { CanonicalEvent } from '../../../src/protocol/log/events.js';
import { createLocalLiveChannel } from '../../../src/store/live/local.js';
import type { LiveMessage } from '../../../src/store/ports/live.js';
import { openSqliteEventLog } from '../../support/event-logs.js';
import { breakable } from '../../support/fakes/breakable-log.js';
import { FakeSource } from '../../support/fakes/fake-source.js';
import { KEY, outline } from '../../support/samples/log-events.js';

export async function aProjection() {
  const inner = await openSqliteEventLog({ file: ':memory:' });
  const outage = breakable(inner);
  const { log } = outage;
  const live = createLocalLiveChannel();
  const source = new FakeSource();
  const said: string[] = [];
  const logger = {
    info: (message: string) => said.push(message),
    warn: (message: string) => said.push(message),
  };
  const projector = new Projector({ log, live, source, logger });
  onTestFinished(async () => {
    source.failing = false;
    await projector.drain();
    await log.close();
  });
  return {
    log,
    outage,
    live,
    source,
    said,
    logger,
    projector,
    stored: async () => (await inner.head(KEY))?.lastSeq ?? 0,
    rows: async () => outline((await inner.read(KEY))?.events ?? []),
    listen: (): LiveMessage[] => {
      const heard: LiveMessage[] = [];
      live.subscribe(KEY, { live: true }, (message) => heard.push(message));
      return heard;
    },
  };
}

/**
 * A server that answers nothing: each request fails at its deadline, which `pass` lets come. Later requests fail at
 * once.
 */
export function aSilentServer() {
  const waiting: (() => void)[] = [];
  let [requests, isPast] = [0, false];
  return {
    count: () => requests,
    request: () => {
      requests += 1;
      return new Promise<never>((_resolve, reject) => {
        const fail = () => reject(new Error('no answer in time'));
        if (isPast) fail();
        else waiting.push(fail);
      });
    },
    pass: () => {
      isPast = true;
      for (const fail of waiting) fail();
    },
  };
}

/** A reader over such a store; `store` appends as a projector in another process would. */
export async function aReader(
  options: { readonly withLive?: boolean; readonly withSource?: boolean } = {},
) {
  const { withLive = true, withSource = false } = options;
  const projection = await aProjection();
  const { log, live, source } = projection;
  const reader = createStoreReader({
    log,
    ...(withLive ? { live } : {}),
    source: withSource ? source : 'none',
  });
  const store = async (events: readonly CanonicalEvent[], runId = 'run-a') => {
    const result = await log.append({ ...KEY, runId, events });
    if (!('head' in result)) throw new Error(result.outcome);
    const { generation, lastSeq } = result.head;
    live.publish({ type: 'appended', ...KEY, generation, lastSeq });
  };
  return { ...projection, reader, store };
}

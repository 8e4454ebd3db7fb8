/** Readers of a worklist that are cut at any moment, over two APIs on one store: each comes to the present list. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { createStoreReader } from '../../../src/projection/reading/store-reader.js';
import type { EventBody } from '../../../src/protocol/log/events.js';
import { openLiveChannel } from '../../../src/store/live/sockets.js';
import { tenantKey } from '../../../src/store/ports/live.js';
import { Dice } from '../../support/dice.js';
import { begins, said } from '../../support/engine/asked-logs.js';
import { openSqliteEventLog } from '../../support/event-logs.js';
import { WorklistReader } from '../../support/networks/worklist-reader.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { keyed, minute, result, waits } from '../../support/samples/list-events.js';
import { stamped, started } from '../../support/samples/log-events.js';
import { startHttpApp } from '../../support/servers/http-app.js';
import { temporaryFolder } from '../../support/temporary.js';
import { until } from '../../support/until.js';

const READERS = 40;
const CONVERSATIONS = 30;
const STORM_MS = 5_000;
/** At least so many calls are made, however slow the machine is. */
const MADE = 50;
const ROLES = ['lead', 'ops'];

/** An API process's parts: its own connection to the file, channel, reader and server. */
async function api(file: string) {
  const log = await openSqliteEventLog({ file });
  onTestFinished(() => log.close());
  const live = openLiveChannel({ file });
  onTestFinished(() => live.close());
  const reader = createStoreReader({ log, live, source: 'none' });
  const app = await startHttpApp({}, { reader, conversations: log });
  return { log, live, app };
}

it('readers that are cut every 50 to 500 ms, over two APIs, end with the calls that wait', {
  ...promise('G353'),
  timeout: patient(60_000),
}, async () => {
  const dice = new Dice(7);
  const file = join(temporaryFolder(), 'log.db');
  const apis = [await api(file), await api(file)] as const;
  const worker = await api(file);
  const open = new Map<string, { readonly role: string | undefined; seq: number }>();
  const append = async (id: string, bodies: readonly EventBody[], from = 1): Promise<number> => {
    const events = stamped(bodies, { from });
    await worker.log.append({ ...keyed(id), runId: 'r', events });
    // Some hints are lost.
    const lastSeq = from + bodies.length - 1;
    const moved = { type: 'appended', ...tenantKey('default'), moved: id, generation: 1, lastSeq };
    if (!dice.oneIn(3)) worker.live.publish({ ...moved, type: 'appended' });
    return lastSeq;
  };
  let made = 0;
  const move = async (): Promise<void> => {
    const id = dice.pick([...open.keys()]);
    if (id !== undefined && (open.size >= CONVERSATIONS || dice.oneIn(2))) {
      await append(id, [result('call-0')], (open.get(id)?.seq ?? 0) + 1);
      open.delete(id);
      return;
    }
    made += 1;
    const role = dice.pick([...ROLES, undefined]);
    const call = waits('call-0', {
      name: 'pay',
      deadline: minute(dice.below(90)),
      ...(role === undefined ? {} : { audience: { roles: [role] } }),
    });
    const next = `c-${made}`;
    const seq = await append(next, [started(keyed(next)), said('t', 'ann'), begins('t'), call]);
    open.set(next, { role, seq });
  };

  let isStorm = true;
  const readers = Array.from({ length: READERS }, (_, n) => {
    const role = ROLES[n % 3];
    const query = role === undefined ? '' : `?as=bo&role=${role}`;
    const reader = new WorklistReader(
      () => `${dice.pick(apis).app.server.url}/v1/worklist/stream${query}`,
    );
    const run = (async () => {
      while (isStorm) {
        const cut = setTimeout(() => reader.cut(), 50 + dice.below(450));
        await reader.read();
        clearTimeout(cut);
      }
      await reader.read();
    })();
    return { reader, role, run };
  });
  onTestFinished(async () => {
    isStorm = false;
    for (const { reader } of readers) reader.cut();
    await sleep(10);
    for (const { reader } of readers) reader.cut();
    await Promise.all(readers.map(({ run }) => run));
  });

  const endAt = performance.now() + STORM_MS;
  while (performance.now() < endAt || made < MADE) {
    await move();
    await sleep(dice.below(20));
  }
  isStorm = false;
  for (const { reader, role } of readers) {
    const expected = [...open]
      .filter(([, call]) => call.role === undefined || call.role === role)
      .map(([id]) => `default~${id}~call-0`)
      .sort();
    await until(
      'the reader has the calls that wait',
      () => ({ refs: reader.refs, counts: reader.counts?.total }),
      {
        timeoutMs: 5_000,
        holds: ({ refs, counts }) =>
          JSON.stringify(refs) === JSON.stringify(expected) && counts === expected.length,
      },
    );
    expect(reader.isWhole).toBe(true);
  }
});

/** A page that reads the whole log of a conversation, and follows it. */
import { afterEach, describe, expect, it } from 'vitest';
import { createBrowserClient } from '../../../../src/browser/index.js';
import { type BrowserLog, logOf } from '../../../../src/browser/studio/index.js';
import { Replay } from '../../../../src/browser/studio/replay.js';
import type { CanonicalEvent } from '../../../../src/protocol/log/events.js';
import { FakeStream, json, scriptedFetch } from '../../../support/pages/scripted-fetch.js';
import { sampleLog } from '../../../support/samples/sample-log.js';
import { until } from '../../../support/until.js';

const QUICK = { minPauseMs: 2, maxPauseMs: 10, silenceMs: 10_000 };
const LOG = sampleLog('c-1');
const opened: BrowserLog[] = [];

afterEach(() => {
  for (const log of opened.splice(0)) log.stop();
});

/** A page of three events, which the API gives from behind a cursor. */
function pageBehind(after: string | undefined, generation: number, all = LOG) {
  const seq = Number(after?.split('-')[1] ?? 0);
  const events = all.filter((event) => event.seq > seq).slice(0, 3);
  const last = events.at(-1)?.seq ?? seq;
  return { generation, events, cursor: `${generation}-${last}`, more: last < all.length };
}

function open(answer: (after: string | undefined) => object) {
  const streams: FakeStream[] = [];
  const { fetch } = scriptedFetch(({ path, headers }) => {
    if (headers.get('accept') !== 'text/event-stream')
      return json(answer(new URL(path, 'http://api').searchParams.get('after') ?? undefined));
    const stream = new FakeStream();
    streams.push(stream);
    return stream.response;
  });
  const log = logOf(createBrowserClient({ baseUrl: '', fetch, timing: QUICK }), 'c-1');
  opened.push(log);
  const shown: number[] = [];
  log.subscribe(() => {
    const { length } = log.getSnapshot().replay.events;
    if (shown.at(-1) !== length) shown.push(length);
  });
  log.open();
  return { log, shown, streams };
}

const seqs = (log: BrowserLog) => log.getSnapshot().replay.events.map(({ seq }) => seq);

describe('the log of a conversation in a page', () => {
  it('grows page by page at the first read, and stays whole while it is read anew', async () => {
    const { log, shown, streams } = open((after) => pageBehind(after, 1));
    await until('the stream is open', () => streams.length === 1);
    expect([shown, log.getSnapshot().isRead]).toEqual([[0, 3, 6, 9], true]);
    // A gap: the event with the seq 10 is missing.
    const behind = { ...LOG[8], seq: 11 } as CanonicalEvent;
    streams[0]?.send(behind);
    await until('another stream', () => streams.length === 2);
    expect(shown).toEqual([0, 3, 6, 9]);
    expect(seqs(log)).toEqual(LOG.map(({ seq }) => seq));
  });

  it('begins anew where the log becomes another one between two pages', async () => {
    let reads = 0;
    const { log, streams } = open((after) => {
      reads += 1;
      return reads < 3 ? pageBehind(after, 1) : pageBehind(reads === 3 ? undefined : after, 2);
    });
    await until('the stream is open', () => streams.length === 1);
    expect(log.getSnapshot().generation).toBe(2);
    expect(seqs(log)).toEqual(LOG.map(({ seq }) => seq));
  });
});

it('the places for forks of a log that grows are found by its new events alone', () => {
  const whole = new Replay(LOG).forkPlaces();
  expect(whole.size).toBeGreaterThan(0);
  let reads = 0;
  const counted = LOG.map(
    (event) =>
      new Proxy(event, {
        get: (target, name) => {
          reads += 1;
          return Reflect.get(target, name) as unknown;
        },
      }),
  );
  let replay = new Replay(counted.slice(0, 6));
  const early = replay.forkPlaces();
  reads = 0;
  replay = replay.with(LOG.slice(6));
  expect(replay.forkPlaces()).toEqual(whole);
  expect(reads).toBe(0);
  expect(replay.forkPlaces()).toBe(replay.forkPlaces());
  expect(early).toEqual(new Set([...whole].filter((seq) => seq <= 6)));
});

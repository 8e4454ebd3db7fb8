/** Transcripts that are sent in part are reassembled with any cache of the worker, or requested in full. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Transcripts } from '../../../src/activities/shared/transcripts.js';
import type { Message } from '../../../src/protocol/conversation/messages.js';
import { hashedPart } from '../../../src/protocol/conversation/offloaded-messages.js';
import {
  type TranscriptQuery,
  type TranscriptSlice,
  transcriptHash,
} from '../../../src/protocol/workflow/transcript-delta.js';
import {
  TranscriptWindow,
  transcriptSlice,
} from '../../../src/workflows/transcript/transcript-window.js';
import { promise } from '../../support/promise.js';
import { aConversationState } from '../../support/samples/transcripts.js';

const RUN = { workflowId: 'conversation:default:c1', runId: 'run-a' };
const MISS = { type: 'transcript_miss', nonRetryable: true };

function message(index: number, text = `message ${index}`): Message {
  return { role: 'user', id: `m${index}`, turnId: `t${index}`, parts: [{ type: 'text', text }] };
}
const messages = (count: number): readonly Message[] =>
  Array.from({ length: count }, (_, index) => message(index));

/** A run that answers queries, and collects them in `queries`. */
function aRun(transcript: () => readonly Message[]) {
  const queries: TranscriptQuery[] = [];
  const fetch = async (_run: unknown, query: TranscriptQuery): Promise<TranscriptSlice> => {
    await Promise.resolve();
    queries.push(query);
    return transcriptSlice(aConversationState(transcript()), query);
  };
  return { queries, fetch };
}

describe('a transcript that is sent in part', () => {
  it('is whole again, without a query if the worker has the rest in its cache', async () => {
    const window = new TranscriptWindow();
    const run = aRun(() => messages(5));
    const worker = new Transcripts({ fetch: run.fetch, maxBytes: 1_000_000 });
    const first = window.next(aConversationState(messages(2)));
    expect(first).toMatchObject({ epoch: 0, base: 0 });
    expect(await worker.whole(RUN, first)).toEqual(messages(2));
    window.cameBack();
    const second = window.next(aConversationState(messages(5)));
    expect(second).toMatchObject({ base: 2, append: messages(5).slice(2) });
    expect(await worker.whole(RUN, second)).toEqual(messages(5));
    expect(run.queries).toEqual([]);
  });

  it('replaces that of an earlier run: the cache holds one run of each conversation', async () => {
    const run = aRun(() => messages(2));
    const worker = new Transcripts({ fetch: run.fetch, maxBytes: 1_000_000 });
    const other = { workflowId: 'conversation:default:c2', runId: 'run-z' };
    const window = new TranscriptWindow();
    const first = window.next(aConversationState(messages(1)));
    window.cameBack();
    const second = window.next(aConversationState(messages(2)));
    await worker.whole(other, first);
    await worker.whole(RUN, first);
    await worker.whole({ ...RUN, runId: 'run-b' }, { ...first, append: [message(0, 'another')] });
    await worker.whole(other, second);
    expect(run.queries).toEqual([]);
    expect(await worker.whole(RUN, second)).toEqual(messages(2));
    expect(run.queries).toHaveLength(1);
  });

  it('is sent from the last message of the last successful call; a failed call does not count', () => {
    const window = new TranscriptWindow();
    window.next(aConversationState(messages(1)));
    window.cameBack();
    window.next(aConversationState(messages(3)));
    expect(window.next(aConversationState(messages(4)))).toMatchObject({ base: 1 });
  });

  it('is sent without known messages after its oldest ones were summarised; replaced messages are not returned under the old epoch', () => {
    const window = new TranscriptWindow();
    const before = aConversationState(messages(6));
    window.next(before);
    window.cameBack();
    const summary = { ...message(3, 'summary'), id: 'summary_1', summary: 1 } as Message;
    const after = { ...aConversationState([summary, ...messages(6).slice(4)]), forgotten: 4 };
    expect(window.next(after)).toMatchObject({ epoch: 4, base: 3, append: [] });
    expect(transcriptSlice(after, { epoch: 4, from: 0, to: 9 }).messages).toEqual(after.transcript);
    expect(transcriptSlice(after, { epoch: 0, from: 0, to: 6 }).messages).toEqual([]);
  });

  it('is sent in full after a miss, when old messages are omitted, and if the agent chooses so', () => {
    const window = new TranscriptWindow();
    window.next(aConversationState(messages(2)));
    window.cameBack();
    window.missed();
    expect(window.next(aConversationState(messages(3)))).toMatchObject({ base: 0 });
    window.cameBack();
    const big = Array.from({ length: 9 }, (_, index) => message(index, 'x'.repeat(200_000)));
    const cut = window.next(aConversationState(big));
    expect(cut.base).toBe(0);
    expect(cut.epoch).toBeGreaterThan(0);
    const full = new TranscriptWindow();
    full.next(aConversationState(messages(2), { transcripts: 'full' }));
    full.cameBack();
    expect(full.next(aConversationState(messages(3), { transcripts: 'full' })).base).toBe(0);
  });

  it('is queried by a worker with an empty cache, in as many pages as necessary', async () => {
    const all = Array.from({ length: 4 }, (_, index) => message(index, 'y'.repeat(400_000)));
    const window = new TranscriptWindow();
    window.next(aConversationState(all.slice(0, 3)));
    window.cameBack();
    const run = aRun(() => all);
    const worker = new Transcripts({ fetch: run.fetch, maxBytes: 0 });
    const delta = window.next(aConversationState(all.slice(0, 3)));
    expect(delta).toMatchObject({ base: 3, append: [] });
    expect(await worker.whole(RUN, delta)).toEqual(all.slice(0, 3));
    // A page has two of the messages.
    const pages = [
      { epoch: 0, from: 0, to: 3 },
      { epoch: 0, from: 2, to: 3 },
    ];
    expect(run.queries).toEqual(pages);
    // The worker caches nothing, so it queries everything again.
    expect(await worker.whole(RUN, delta)).toEqual(all.slice(0, 3));
    expect(run.queries).toEqual([...pages, ...pages]);
  });

  it('is completed from a shorter cache entry, and cut from a longer one', async () => {
    const run = aRun(() => messages(6));
    const worker = new Transcripts({ fetch: run.fetch, maxBytes: 1_000_000 });
    const sent = (length: number, base: number) => {
      const window = new TranscriptWindow();
      window.next(aConversationState(messages(base)));
      window.cameBack();
      return window.next(aConversationState(messages(length)));
    };
    await worker.whole(RUN, sent(2, 0));
    expect(await worker.whole(RUN, sent(6, 4))).toEqual(messages(6));
    expect(run.queries).toEqual([{ epoch: 0, from: 2, to: 4 }]);
    expect(await worker.whole(RUN, sent(4, 3))).toEqual(messages(4));
    expect(run.queries).toHaveLength(1);
  });

  it('drops a cache entry with other messages, and queries again', async () => {
    const run = aRun(() => messages(3));
    const worker = new Transcripts({ fetch: run.fetch, maxBytes: 1_000_000 });
    await worker.whole(RUN, { epoch: 0, base: 0, append: [message(0, 'another'), message(1)] });
    const window = new TranscriptWindow();
    window.next(aConversationState(messages(2)));
    window.cameBack();
    const delta = window.next(aConversationState(messages(3)));
    expect(await worker.whole(RUN, delta)).toEqual(messages(3));
    expect(run.queries).toEqual([{ epoch: 0, from: 0, to: 2 }]);
  });

  it.each([
    ['no worker answers', () => Promise.reject(new Error('no worker'))],
    ['the run has fewer messages', () => Promise.resolve({ epoch: 0, from: 0, messages: [] })],
    [
      'the run has others',
      () => Promise.resolve({ epoch: 0, from: 0, messages: [message(7), message(8)] }),
    ],
  ])('is a miss when %s: the workflow sends everything', async (_what, fetch) => {
    const worker = new Transcripts({ fetch, maxBytes: 1_000_000 });
    const delta = { epoch: 0, base: 2, prefixHash: 'abc', append: [message(2)] };
    await expect(worker.whole(RUN, delta)).rejects.toMatchObject(MISS);
    expect(await worker.whole(RUN, { epoch: 0, base: 0, append: messages(3) })).toHaveLength(3);
  });

  describe('for two model calls with the same query at the same time', () => {
    const delta = (() => {
      const window = new TranscriptWindow();
      window.next(aConversationState(messages(2)));
      window.cameBack();
      return window.next(aConversationState(messages(3)));
    })();

    it('is queried once, and both get the answer', promise('G170'), async () => {
      const run = aRun(() => messages(3));
      const worker = new Transcripts({ fetch: run.fetch, maxBytes: 0 });
      const both = await Promise.all([worker.whole(RUN, delta), worker.whole(RUN, delta)]);
      expect(both).toEqual([messages(3), messages(3)]);
      expect(run.queries).toEqual([{ epoch: 0, from: 0, to: 2 }]);
      // A later call queries again.
      await worker.whole(RUN, delta);
      // Another run is another query.
      await Promise.all([worker.whole(RUN, delta), worker.whole({ ...RUN, runId: 'b' }, delta)]);
      expect(run.queries).toHaveLength(4);
    });

    it('is a miss for both when no worker answers, and for no later call', {
      ...promise('G170'),
    }, async () => {
      const run = aRun(() => messages(3));
      let isDown = true;
      let asked = 0;
      const worker = new Transcripts({
        fetch: (of, query) => {
          asked += 1;
          return isDown ? Promise.reject(new Error('no worker')) : run.fetch(of, query);
        },
        maxBytes: 0,
      });
      const both = [worker.whole(RUN, delta), worker.whole(RUN, delta)];
      for (const one of both) await expect(one).rejects.toMatchObject(MISS);
      expect(asked).toBe(1);
      isDown = false;
      expect(await worker.whole(RUN, delta)).toEqual(messages(3));
    });

    it('is read from the store once', async () => {
      const part = { id: 'blob_1', from: 0, to: 2 };
      let reads = 0;
      const worker = new Transcripts({
        fetch: () => Promise.resolve({ epoch: 0, from: 0, messages: [], stored: part }),
        readChunk: async () => {
          reads += 1;
          await Promise.resolve();
          return messages(2);
        },
        maxBytes: 0,
      });
      const prefixHash = transcriptHash('', hashedPart(part));
      const stored = { epoch: 0, base: 2, prefixHash, stored: [part], append: [message(2)] };
      const both = await Promise.all([worker.whole(RUN, stored), worker.whole(RUN, stored)]);
      expect(both).toEqual([messages(3), messages(3)]);
      expect(reads).toBe(1);
      await worker.whole(RUN, stored);
      expect(reads).toBe(2);
    });
  });

  it('is cached by bytes, and the least recently used conversation is evicted first', async () => {
    const run = aRun(() => [message(0, 'x'.repeat(400)), message(1)]);
    // As many UTF-16 units as the others, and twice the bytes.
    const wide = message(0, '\u{1F600}'.repeat(200));
    const narrow = message(0, 'x'.repeat(400));
    const bytesOf = (one: Message) => Buffer.byteLength(JSON.stringify(one));
    expect(JSON.stringify(wide)).toHaveLength(JSON.stringify(narrow).length);
    const of = (conversation: string) => ({
      ...RUN,
      workflowId: `conversation:default:${conversation}`,
    });
    const first = { epoch: 0, base: 0, append: [narrow] };
    const known = {
      epoch: 0,
      base: 1,
      prefixHash: transcriptHash('', JSON.stringify(narrow)),
      append: [],
    };
    const worker = new Transcripts({ fetch: run.fetch, maxBytes: 3 * bytesOf(narrow) });
    for (const name of ['a', 'b', 'c']) await worker.whole(of(name), first);
    await worker.whole(of('a'), known);
    expect(run.queries).toEqual([]);
    // Evicts two entries, `b` and `c`, because `a` was used after them.
    await worker.whole(of('d'), { ...first, append: [wide] });
    await worker.whole(of('a'), known);
    expect(run.queries).toEqual([]);
    await worker.whole(of('c'), known);
    expect(run.queries).toHaveLength(1);
  });

  it('is the same for any sequence of calls, workers and caches', async () => {
    const step = fc.record({
      grows: fc.nat(3),
      worker: fc.nat(2),
      comesBack: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        let length = 1;
        const run = aRun(() => messages(length));
        const workers = [0, 300, 1_000_000].map(
          (maxBytes) => new Transcripts({ fetch: run.fetch, maxBytes }),
        );
        const window = new TranscriptWindow();
        for (const { grows, worker, comesBack } of steps) {
          length += grows;
          const delta = window.next(aConversationState(messages(length)));
          expect(await workers[worker]?.whole(RUN, delta)).toEqual(messages(length));
          if (comesBack) window.cameBack();
        }
      }),
    );
  });
});

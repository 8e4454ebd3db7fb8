/** Transcripts that are sent in part are put together again, whatever the worker remembers, or they are asked for in full. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Transcripts } from '../../src/activities/transcripts.js';
import type { TranscriptQuery, TranscriptSlice } from '../../src/protocol/activities.js';
import type { Message } from '../../src/protocol/messages.js';
import { TranscriptWindow, transcriptSlice } from '../../src/workflows/transcript-window.js';
import { aConversationState } from '../support/transcripts.js';

const RUN = { workflowId: 'conversation:default:c1', runId: 'run-a' };
const MISS = { type: 'transcript_miss', nonRetryable: true };

function message(index: number, text = `message ${index}`): Message {
  return { role: 'user', id: `m${index}`, turnId: `t${index}`, parts: [{ type: 'text', text }] };
}
const messages = (count: number): readonly Message[] =>
  Array.from({ length: count }, (_, index) => message(index));

/** A run that answers; `queries` is what it was asked. */
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
  it('is whole again, without a query where the worker remembers the rest', async () => {
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

  it('makes room for that of the next run: what a conversation was in earlier runs is remembered no longer', async () => {
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

  it('is sent from where the last call that came back got it: one that failed counts for nothing', () => {
    const window = new TranscriptWindow();
    window.next(aConversationState(messages(1)));
    window.cameBack();
    window.next(aConversationState(messages(3)));
    expect(window.next(aConversationState(messages(4)))).toMatchObject({ base: 1 });
  });

  it('is sent in full once its oldest messages were summarised; what was forgotten is not given under its old name', () => {
    const window = new TranscriptWindow();
    const before = aConversationState(messages(6));
    window.next(before);
    window.cameBack();
    const summary = { ...message(3, 'summary'), id: 'summary_1', summary: 1 } as Message;
    const after = { ...aConversationState([summary, ...messages(6).slice(4)]), forgotten: 4 };
    expect(window.next(after)).toMatchObject({ epoch: 4, base: 0, append: after.transcript });
    expect(transcriptSlice(after, { epoch: 4, from: 0, to: 9 }).messages).toEqual(after.transcript);
    expect(transcriptSlice(after, { epoch: 0, from: 0, to: 6 }).messages).toEqual([]);
  });

  it('is sent in full after a miss, when old messages are left out, and where the agent wants that', () => {
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

  it('is asked for by a worker that has nothing of it, in as many pages as it takes', async () => {
    const all = Array.from({ length: 4 }, (_, index) => message(index, 'y'.repeat(400_000)));
    const window = new TranscriptWindow();
    const state = aConversationState(all.slice(0, 2));
    window.next(state);
    window.cameBack();
    const run = aRun(() => all);
    const worker = new Transcripts({ fetch: run.fetch, maxBytes: 0 });
    const delta = { ...window.next(aConversationState(all.slice(0, 2))), append: [] };
    expect(await worker.whole(RUN, delta)).toEqual(all.slice(0, 2));
    expect(await worker.whole(RUN, delta)).toEqual(all.slice(0, 2));
    expect(run.queries.map(({ from, to }) => [from, to])).toEqual([
      [0, 2],
      [0, 2],
    ]);
    const pages = aRun(() => all);
    await expect(pages.fetch(RUN, { epoch: 0, from: 0, to: 4 })).resolves.toMatchObject({
      messages: [{}, {}],
    });
  });

  it('is completed from a shorter memory, and cut from a longer one', async () => {
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

  it('drops a memory of something else, and asks anew', async () => {
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
  ])('is a miss when %s: the workflow is told, and sends everything', async (_what, fetch) => {
    const worker = new Transcripts({ fetch, maxBytes: 1_000_000 });
    const delta = { epoch: 0, base: 2, prefixHash: 'abc', append: [message(2)] };
    await expect(worker.whole(RUN, delta)).rejects.toMatchObject(MISS);
    expect(await worker.whole(RUN, { epoch: 0, base: 0, append: messages(3) })).toHaveLength(3);
  });

  it('is the same for any sequence of calls, workers and memories', async () => {
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

/**
 * Model calls read the whole conversation although roll-overs have stored its oldest turns; a failure to store never
 * stops a roll-over.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Transcripts } from '../../../src/activities/shared/transcripts.js';
import { offloadPlan } from '../../../src/core/context/carry-over.js';
import { chunkIdsIn, offloadedEnd } from '../../../src/core/context/offloaded.js';
import { visibleTranscript } from '../../../src/core/context/request-window.js';
import { summarizable } from '../../../src/core/context/summaries.js';
import { withMessage } from '../../../src/core/context/transcript.js';
import type { ConversationState } from '../../../src/core/state/state.js';
import { countMessages } from '../../../src/core/state/transcript.js';
import type { Message } from '../../../src/protocol/conversation/messages.js';
import type { OffloadTranscriptInput } from '../../../src/protocol/conversation/offloaded-messages.js';
import type { TranscriptQuery } from '../../../src/protocol/workflow/transcript-delta.js';
import { StoreUnavailable } from '../../../src/store/ports/log.js';
import {
  TranscriptWindow,
  transcriptSlice,
} from '../../../src/workflows/transcript/transcript-window.js';
import {
  after,
  aSummary,
  aTurn,
  happenings,
  NOTHING_SAID,
  orderOf,
  Shelf,
} from '../../support/fakes/stored-transcripts.js';
import { promise } from '../../support/promise.js';
import { aConversationState } from '../../support/samples/transcripts.js';
import { answer, environment, key, modelInput, modelOf, setUp } from '../tools/fixtures.js';

const BOUNDS = { fromBytes: 1_000, keepBytes: 300, chunkBytes: 1_000 };
const RUN = { workflowId: 'conversation:default:c-1', runId: 'run-2' };

function turns(count: number, from = 1): readonly Message[] {
  return Array.from({ length: count }, (_, index) => aTurn(from + index, [2], 90)).flat();
}

/** Nine turns, some of them stored, and a tenth. */
function storedState(shelf: Shelf): ConversationState {
  const state = shelf.rolledOver(aConversationState(turns(9)), BOUNDS);
  expect(offloadedEnd(state.transcript)).toBeGreaterThan(0);
  return turns(1, 10).reduce(withMessage, state);
}

/** A worker that queries the run with this state. */
function aWorker(shelf: Shelf, state: () => ConversationState, maxBytes: number) {
  const queries: TranscriptQuery[] = [];
  const read: string[] = [];
  const transcripts = new Transcripts({
    maxBytes,
    fetch: (_run, query) => {
      queries.push(query);
      return Promise.resolve(transcriptSlice(state(), query));
    },
    readChunk: (_run, id) => {
      read.push(id);
      return Promise.resolve(shelf.get(id));
    },
  });
  return { transcripts, queries, read };
}

describe('a transcript with its oldest turns stored by roll-overs', () => {
  it('is whole for any sequence of turns, roll-overs, summaries, calls, workers and caches', {
    ...promise('G179', 'G180'),
  }, async () => {
    const call = fc.record({ worker: fc.nat(2), comesBack: fc.boolean(), misses: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        happenings,
        fc.array(call, { minLength: 25, maxLength: 25 }),
        fc.boolean(),
        async (all, calls, continues) => {
          const shelf = new Shelf();
          let both = NOTHING_SAID;
          let window = new TranscriptWindow();
          let run = 0;
          const workers = [0, 900, 1_000_000].map((maxBytes) =>
            aWorker(shelf, () => both.state, maxBytes),
          );
          for (const [index, happening] of all.entries()) {
            both = after(both, happening, shelf);
            if (happening.what === 'roll_over') {
              window = new TranscriptWindow(continues ? both.state : undefined);
              run += 1;
            }
            const { worker = 0, comesBack, misses } = calls[index] ?? {};
            const of = { ...RUN, runId: `run-${run}` };
            const { transcripts } = workers[worker]!;
            if (misses === true) window.missed();
            const delta = JSON.parse(JSON.stringify(window.next(both.state))) as ReturnType<
              TranscriptWindow['next']
            >;
            expect(await transcripts.whole(of, delta)).toEqual(visibleTranscript(both.plain));
            if (comesBack === true) window.cameBack();
            const length = summarizable(both.state);
            if (length === 0) continue;
            const front = await transcripts.read(of, window.front(both.state, length));
            const wanted = both.plain.transcript.slice(0, summarizable(both.plain));
            expect(front).toEqual(wanted);
          }
        },
      ),
      { numRuns: 120 },
    );
  });

  it('is sent by reference with the first call of a run, and read from the store once', async () => {
    const shelf = new Shelf();
    let state = storedState(shelf);
    const { transcripts, queries, read } = aWorker(shelf, () => state, 1_000_000);
    const window = new TranscriptWindow();
    const first = window.next(state);
    expect(first.base).toBe(offloadedEnd(state.transcript));
    expect(JSON.stringify(first).length).toBeLessThan(state.transcriptBytes / 2);
    await transcripts.whole(RUN, first);
    expect(read.length).toBeGreaterThan(0);
    window.cameBack();
    state = turns(1, 11).reduce(withMessage, state);
    const before = read.length;
    const second = window.next(state);
    expect(second).not.toHaveProperty('stored');
    expect(await transcripts.whole(RUN, second)).toHaveLength(countMessages(state.transcript));
    expect([read.length, queries.length]).toEqual([before, 0]);
  });

  it('is not sent again to the next run: a worker with the cache of the last one sends no query and reads no blob', {
    ...promise('G180'),
  }, async () => {
    const shelf = new Shelf();
    let state = aConversationState(turns(9));
    const { transcripts, queries, read } = aWorker(shelf, () => state, 1_000_000);
    const answer = state.transcript.at(-1)!;
    const asked = { ...state, transcript: state.transcript.slice(0, -1) };
    await transcripts.whole(RUN, new TranscriptWindow().next(asked));
    state = shelf.rolledOver(state, { ...BOUNDS, keepBytes: 3_000 });
    const end = offloadedEnd(state.transcript);
    expect(end).toBeGreaterThan(0);
    for (const [id, messages] of shelf.chunks) transcripts.stored(RUN, id, messages);
    const window = new TranscriptWindow(state);
    state = turns(1, 10).reduce(withMessage, state);
    const delta = window.next(state);
    expect(delta.append).toEqual([answer, ...turns(1, 10)]);
    const next = { ...RUN, runId: 'run-3' };
    expect(await transcripts.whole(next, delta)).toEqual(turns(10));
    expect([queries, read]).toEqual([[], []]);
    // A worker with an empty cache gets no more either: it reads and queries.
    const other = aWorker(shelf, () => state, 1_000_000);
    expect(await other.transcripts.whole(next, delta)).toEqual(turns(10));
    expect(other.read.length).toBeGreaterThan(0);
    // A worker with other messages of the conversation in its cache detects that.
    const misled = aWorker(shelf, () => state, 1_000_000);
    await misled.transcripts.whole(RUN, new TranscriptWindow().next(aConversationState(turns(7))));
    expect(await misled.transcripts.whole(next, delta)).toEqual(turns(10));
    // After a miss all of it is sent.
    expect(window.missed()).toBe(true);
    expect(window.next(state)).toMatchObject({
      base: end,
      append: { length: countMessages(state.transcript) - end },
    });
    expect(window.missed()).toBe(false);
  });

  it('is not sent again after a summary: only the summary is new', promise('G180'), async () => {
    const shelf = new Shelf();
    const before = aConversationState(turns(6));
    const { transcripts, queries } = aWorker(shelf, () => before, 1_000_000);
    const window = new TranscriptWindow({ transcript: [] });
    await transcripts.whole(RUN, window.next(before));
    window.cameBack();
    const summary = aSummary('t3');
    const kept = before.transcript.filter(({ turnId }) => ['t4', 't5', 't6'].includes(turnId));
    const state = {
      ...aConversationState([summary, ...kept]),
      forgotten: before.transcript.length - kept.length,
    };
    const delta = window.next(state);
    expect(delta).toMatchObject({ stored: [{ messages: [summary] }], append: [] });
    expect(await transcripts.whole(RUN, delta)).toEqual([summary, ...kept]);
    expect(queries).toEqual([]);
  });

  it('is queried, and read from the store, by another worker in the middle of a run', async () => {
    const shelf = new Shelf();
    const state = storedState(shelf);
    const window = new TranscriptWindow();
    window.next(state);
    window.cameBack();
    const other = aWorker(shelf, () => state, 1_000_000);
    expect(await other.transcripts.whole(RUN, window.next(state))).toEqual(turns(10));
    expect(other.queries.length).toBeGreaterThan(0);
    expect(other.read.length).toBeGreaterThan(0);
  });

  it('is read from the store once by work beside the model calls', async () => {
    const shelf = new Shelf();
    const state = storedState(shelf);
    const { transcripts, read } = aWorker(shelf, () => state, 1_000_000);
    const front = new TranscriptWindow().front(state, state.transcript.length);
    for (let time = 0; time < 2; time += 1)
      expect(await transcripts.read(RUN, front)).toEqual(turns(10));
    expect(read).toEqual([...new Set(read)]);
    expect(read.length).toBeGreaterThan(0);
  });

  it('is never taken for a shorter one by a worker that knows no stored messages: it misses the prefix and reports that', () => {
    const shelf = new Shelf();
    const state = storedState(shelf);
    const { stored: _unknown, ...delta } = new TranscriptWindow().next(state);
    expect(delta.base).toBeGreaterThan(0);
    expect(transcriptSlice(state, { epoch: 0, from: 0, to: delta.base }).messages).toEqual([]);
    const old = aWorker(shelf, () => state, 1_000_000);
    const asOld = new Transcripts({
      maxBytes: 0,
      fetch: (_run, query) => {
        const { stored: _part, ...slice } = transcriptSlice(state, query);
        return Promise.resolve(slice);
      },
    });
    expect(old.read).toEqual([]);
    return expect(asOld.whole(RUN, delta)).rejects.toMatchObject({ type: 'transcript_miss' });
  });

  it('that was sent whole and missed nevertheless is not sent forever', () => {
    const shelf = new Shelf();
    const state = storedState(shelf);
    const window = new TranscriptWindow();
    window.next(state);
    window.cameBack();
    expect(window.missed()).toBe(true);
    window.next(state);
    expect(window.missed()).toBe(false);
  });
});

/** The input with which a workflow has these messages stored, in chunks of so many. */
function order(messages: readonly Message[], chunks: readonly number[]): OffloadTranscriptInput {
  return { ...key, messages: orderOf(aConversationState(messages), 0), chunks };
}

describe('storing the oldest turns', () => {
  const fetchTranscript = (_run: unknown, query: TranscriptQuery) =>
    Promise.resolve(transcriptSlice(aConversationState(turns(4)), query));
  const removed: string[] = [];
  const chunksOf = (shelf: Shelf) => ({
    put: (_key: unknown, messages: readonly Message[]) => Promise.resolve(shelf.put(messages)),
    get: () => Promise.reject(new Error('not now')),
    remove: (_key: unknown, ids: readonly string[]) => {
      removed.push(...ids);
      return Promise.resolve();
    },
  });

  it('returns the id of each chunk, the same for every repeat, and removes unused chunks', async () => {
    const shelf = new Shelf();
    const { activities } = setUp({ chunks: chunksOf(shelf), fetchTranscript });
    const [first] = turns(4);
    expect(first).toBeDefined();
    const input = { ...order(turns(4), [8, 8]), unused: ['a'.repeat(64)] };
    const { ids = [] } = await environment().run(activities.offloadTranscript, input);
    expect(ids.map((id) => shelf.chunks.get(id))).toEqual([
      turns(4).slice(0, 8),
      turns(4).slice(8),
    ]);
    const again = { ...input, unused: ids };
    expect(await environment().run(activities.offloadTranscript, again)).toEqual({ ids });
    expect(removed).toEqual(['a'.repeat(64)]);
  });

  it.each([
    ['the store is away', () => Promise.reject(new StoreUnavailable('disk full')), turns(4)],
    ['the run has other messages', () => Promise.resolve('b'.repeat(64)), turns(3)],
  ])('fails once when %s: the messages are carried over', async (_why, put, messages) => {
    const chunks = { ...chunksOf(new Shelf()), put };
    const { activities } = setUp({ chunks, fetchTranscript });
    const input = order(messages, [8]);
    const wrong = { ...input, messages: { ...input.messages, to: 16 } };
    await expect(environment().run(activities.offloadTranscript, wrong)).rejects.toMatchObject({
      type: expect.stringMatching(/^(store_unavailable|transcript_miss)$/) as string,
    });
  });

  it('removes chunks that an earlier order stored without an acknowledgement, except those stored now', {
    ...promise('G181'),
  }, async () => {
    const shelf = new Shelf();
    const { activities } = setUp({ chunks: chunksOf(shelf), fetchTranscript });
    const before = order(turns(3), [8, 4]);
    const { ids: stored = [] } = await environment().run(activities.offloadTranscript, before);
    removed.length = 0;
    const input = { ...order(turns(4), [8, 8]), unacknowledged: [before, order(turns(2, 7), [8])] };
    const { ids } = await environment().run(activities.offloadTranscript, input);
    expect(ids?.[0]).toBe(stored[0]);
    expect(removed).toEqual([stored[1]]);
  });

  it('returns no ids in a worker without a blob store', async () => {
    const without = { ...chunksOf(new Shelf()), put: () => Promise.resolve(undefined) };
    const { activities } = setUp({ chunks: without, fetchTranscript });
    const input = order(turns(4), [16]);
    expect(await environment().run(activities.offloadTranscript, input)).toEqual({});
  });
});

describe('a model call of a conversation with stored turns', () => {
  const workflowExecution = { workflowId: RUN.workflowId, runId: RUN.runId };

  it('gives its model the whole transcript', async () => {
    const shelf = new Shelf();
    const state = storedState(shelf);
    const seen: (readonly Message[])[] = [];
    const { activities } = setUp({
      model: modelOf(({ messages }) => {
        seen.push(messages);
        return Promise.resolve(answer());
      }),
      chunks: {
        put: () => Promise.resolve(undefined),
        get: (about, id) => {
          expect(about).toEqual(key);
          return Promise.resolve(shelf.get(id));
        },
        remove: () => Promise.resolve(),
      },
    });
    const transcript = new TranscriptWindow().next(state);
    const input = modelInput({ transcript, turnId: 't10' });
    await environment({ workflowExecution }).run(activities.callModel, input);
    expect(seen).toEqual([turns(10)]);
  });

  it('needs no read in the worker that has stored them', async () => {
    const shelf = new Shelf();
    const seen: (readonly Message[])[] = [];
    const { activities } = setUp({
      model: modelOf(({ messages }) => {
        seen.push(messages);
        return Promise.resolve(answer());
      }),
      fetchTranscript: (_run, query) =>
        Promise.resolve(transcriptSlice(aConversationState(turns(9)), query)),
      chunks: {
        put: (_key, messages) => Promise.resolve(shelf.put(messages)),
        get: () => Promise.reject(new Error('not now')),
        remove: () => Promise.resolve(),
      },
    });
    const env = environment({ workflowExecution });
    const plan = offloadPlan(aConversationState(turns(9)), BOUNDS);
    const input = order(plan?.messages ?? [], plan?.chunks ?? []);
    const { ids = [] } = await env.run(activities.offloadTranscript, input);
    const state = storedState(shelf);
    expect([...chunkIdsIn(state.transcript)]).toEqual(ids);
    const transcript = new TranscriptWindow().next(state);
    await env.run(activities.callModel, modelInput({ transcript, turnId: 't10' }));
    expect(seen).toEqual([turns(10)]);
  });

  it.each([
    ['store_unavailable', new StoreUnavailable('the disk is gone')],
    ['transcript_lost', Object.assign(new Error('gone'), { code: 'transcript_lost' })],
  ])('fails with %s, and is retried, when they cannot be read', async (type, error) => {
    const state = storedState(new Shelf());
    const { activities } = setUp({
      chunks: {
        put: () => Promise.resolve(undefined),
        get: () => Promise.reject(error),
        remove: () => Promise.resolve(),
      },
    });
    const input = modelInput({ transcript: new TranscriptWindow().next(state) });
    await expect(
      environment({ workflowExecution }).run(activities.callModel, input),
    ).rejects.toMatchObject({ type, nonRetryable: false });
  });
});

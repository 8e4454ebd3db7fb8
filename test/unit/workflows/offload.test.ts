/** The orders to offload messages, and their deadlines. */
import { beforeEach, expect, it, vi } from 'vitest';
import { chunkIdsIn, offloadedEnd, offloadedItems } from '../../../src/core/context/offloaded.js';
import { needsOffload } from '../../../src/core/context/request-window.js';
import { withMessage, withoutOldest } from '../../../src/core/context/transcript.js';
import { countMessages, isOffloaded } from '../../../src/core/state/transcript.js';
import type { Message } from '../../../src/protocol/conversation/messages.js';
import {
  OFFLOAD_BOUNDS,
  type OffloadTranscriptInput,
} from '../../../src/protocol/conversation/offloaded-messages.js';
import type { ConversationInput } from '../../../src/protocol/workflow/messaging.js';
import { transcriptHash } from '../../../src/protocol/workflow/transcript-delta.js';
import { TranscriptOffload } from '../../../src/workflows/transcript/offload.js';
import { modelCalls, plannedCall } from '../../support/builders/core-builders.js';
import { aTurn, Shelf } from '../../support/fakes/stored-transcripts.js';
import { aConversationState } from '../../support/samples/transcripts.js';
import { aMachine, type MachineUnderTest } from '../../support/schedules/core-driver.js';

const KB = 1024;
const store = vi.hoisted(() => ({
  answer: (): unknown => ({}),
  deadlines: [] as unknown[],
  orders: [] as unknown[],
}));
vi.mock(import('../../../src/workflows/activities/schedule.js'), async (original) => {
  const schedule = await original();
  const executeWithOptions = (
    options: { startToCloseTimeout?: unknown },
    [order]: readonly unknown[],
  ) => {
    store.deadlines.push(options.startToCloseTimeout);
    store.orders.push(order);
    return Promise.resolve(store.answer());
  };
  return { ...schedule, activities: { offloadTranscript: { executeWithOptions } } as never };
});

beforeEach(() => {
  store.deadlines.length = 0;
  store.orders.length = 0;
});

/** Between two steps, with results of so many calls of 190 KB each. */
function worked(calls: number): MachineUnderTest {
  const m = aMachine();
  m.send('work');
  const ids = Array.from({ length: calls }, (_, call) => `c${call}`);
  m.model(modelCalls(ids.map((id) => plannedCall(id))));
  for (const id of ids) m.tool(id, 'y'.repeat(190 * KB));
  return m;
}

function anOffload(
  { state }: Pick<MachineUnderTest, 'state'>,
  offload = OFFLOAD_BOUNDS,
): TranscriptOffload {
  const { tenant, conversationId, agent, settings } = state;
  const input: ConversationInput = { tenant, conversationId, agent, settings, offload };
  return new TranscriptOffload(input, state);
}

it.each([
  ['three seconds where everything can be carried as well', 4, false, '3s'],
  ['twenty where the turn cannot go on without', 9, true, '20s'],
])('the deadline is %s', async (_how, calls, isNeeded, deadline) => {
  const m = worked(calls);
  expect(needsOffload(m.state)).toBe(isNeeded);
  await anOffload(m).begin(m.state);
  expect(store.deadlines).toEqual([deadline]);
});

it('another attempt is useless once the run knows that there is no store, which a failure does not show', async () => {
  const m = worked(9);
  const offload = anOffload(m);
  store.answer = () => Promise.reject(new Error('away'));
  expect(await offload.begin(m.state)).toBeUndefined();
  expect([offload.possible, offload.failed]).toEqual([true, true]);
  store.answer = () => ({});
  expect(await offload.begin(m.state)).toBeUndefined();
  expect([offload.possible, offload.failed]).toEqual([false, false]);
});

it('names messages behind offloaded ones by their places, and chunks of the first state that are unused', async () => {
  const bounds = { fromBytes: 1_000, keepBytes: 300, chunkBytes: 1_000 };
  const turns = (count: number, first: number): readonly Message[] =>
    Array.from({ length: count }, (_, index) => aTurn(first + index, [2], 90)).flat();
  const shelf = new Shelf();
  const began = shelf.rolledOver(aConversationState(turns(9, 1)), bounds);
  const [oldest = ''] = chunkIdsIn(began.transcript);
  const dropped = began.transcript.filter((item) => isOffloaded(item) && item.chunk === oldest);
  const left = withoutOldest(began, countMessages(dropped));
  const state = turns(9, 10).reduce(withMessage, left);
  await anOffload({ state: began }, bounds).begin(state);
  const [order] = store.orders as readonly OffloadTranscriptInput[];
  expect(order?.unused).toEqual([oldest]);
  const { epoch, from = 0, to, hash } = order?.messages ?? {};
  expect(epoch).toBe(state.forgotten);
  expect(from).toBe(offloadedEnd(state.transcript));
  expect(from).toBeGreaterThan(offloadedItems(state.transcript));
  const meant = shelf.whole(state.transcript).slice(from, to);
  expect(hash).toBe(meant.reduce((sum, one) => transcriptHash(sum, JSON.stringify(one)), ''));
});

/** Deadlines of the store for messages that a run offloads. */
import { beforeEach, expect, it, vi } from 'vitest';
import { needsOffload } from '../../../src/core/context/request-window.js';
import { OFFLOAD_BOUNDS } from '../../../src/protocol/conversation/offloaded-messages.js';
import type { ConversationInput } from '../../../src/protocol/workflow/messaging.js';
import { TranscriptOffload } from '../../../src/workflows/transcript/offload.js';
import { modelCalls, plannedCall } from '../../support/builders/core-builders.js';
import { aMachine, type MachineUnderTest } from '../../support/schedules/core-driver.js';

const KB = 1024;
const store = vi.hoisted(() => ({ answer: (): unknown => ({}), deadlines: [] as unknown[] }));
vi.mock(import('../../../src/workflows/activities/schedule.js'), async (original) => {
  const schedule = await original();
  const executeWithOptions = (options: { startToCloseTimeout?: unknown }) => {
    store.deadlines.push(options.startToCloseTimeout);
    return Promise.resolve(store.answer());
  };
  return { ...schedule, activities: { offloadTranscript: { executeWithOptions } } as never };
});

beforeEach(() => {
  store.deadlines.length = 0;
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

function anOffload({ state }: MachineUnderTest): TranscriptOffload {
  const { tenant, conversationId, agent, settings } = state;
  const input: ConversationInput = {
    tenant,
    conversationId,
    agent,
    settings,
    offload: OFFLOAD_BOUNDS,
  };
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

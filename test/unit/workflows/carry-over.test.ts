/** The form in which a run hands its state to the next. */
import { describe, expect, it, vi } from 'vitest';
import { toCarryOver } from '../../../src/core/context/carry-over.js';
import { CARRIED_VERSION } from '../../../src/protocol/conversation/offloaded-messages.js';
import type { ConversationInput } from '../../../src/protocol/workflow/messaging.js';
import { initialState, nextInput } from '../../../src/workflows/transcript/carry-over.js';
import { DENY, gatedCall, modelCalls, settings } from '../../support/builders/core-builders.js';
import { promise } from '../../support/promise.js';
import { aMachineWith } from '../../support/schedules/core-driver.js';

const INPUT: ConversationInput = {
  tenant: 'default',
  conversationId: 'order-42',
  agent: 'support',
  settings: settings(),
};
const REST = { unconfirmed: [], knownChunks: new Set<string>(), unacknowledged: [] };

/** With an ended call, and the requests of a message and of an answer. */
function state(): ReturnType<typeof aMachineWith>['state'] {
  const m = aMachineWith(modelCalls([gatedCall('c')]));
  m.resolve('c', DENY, { requestId: 'no' });
  return m.state;
}

vi.mock(import('@temporalio/workflow'), async (original) => ({
  ...(await original()),
  workflowInfo: () => ({ firstExecutionRunId: 'run-2' }) as never,
}));

describe('a run that reopens a conversation', () => {
  it.each([
    ['its own agent', 'support', 9],
    ['another agent', 'other', 20],
  ])(
    'begins with the agent of the log; a message for %s decides about the settings',
    (_whose, agent, maxSteps) => {
      const before = { ...state(), agent: 'support', settings: settings({ maxSteps: 20 }) };
      const carried = { ...toCarryOver(before), events: [] };
      const wanted = { ...INPUT, agent, settings: settings({ maxSteps: 9 }) };
      const begun = initialState({ ...wanted, reopen: {}, carried });
      expect(begun.events.at(-1)).toMatchObject({
        type: 'conversation_started',
        agent: 'support',
        reopened: true,
        settings: { maxSteps },
      });
      expect(begun.state).toMatchObject({ agent: 'support', settings: { maxSteps } });
    },
  );
});

describe('the memory of a run', () => {
  it('is carried as it is, and read again', promise('G203'), () => {
    const before = state();
    const { carried } = nextInput(INPUT, before, REST);
    expect(carried).toMatchObject({ version: CARRIED_VERSION, state: before });
    expect([before.tombstones.length, before.requests.length]).toEqual([1, 2]);
    const begun = initialState({ ...INPUT, ...(carried === undefined ? {} : { carried }) });
    expect(begun.state).toEqual(before);
  });

  it.each([
    ['a later', 'a newer', CARRIED_VERSION + 1],
    ['an earlier', 'an older', CARRIED_VERSION - 1],
  ])(
    'of %s version is refused, so that its conversation waits for %s worker',
    promise('G203'),
    (_which, worker, version) => {
      const carried = { version: version as typeof CARRIED_VERSION, state: state(), events: [] };
      expect(() => initialState({ ...INPUT, carried })).toThrow(
        `carried state of version ${version} needs ${worker} worker: this one reads version ${CARRIED_VERSION}`,
      );
    },
  );
});

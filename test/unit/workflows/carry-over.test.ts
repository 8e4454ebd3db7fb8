/** The form in which a run hands its state to the next. */
import { describe, expect, it } from 'vitest';
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

describe('the memory of a run', () => {
  it('is carried as it is, and read again', promise('G203'), () => {
    const before = state();
    const { carried } = nextInput(INPUT, before, REST);
    expect(carried).toMatchObject({ version: CARRIED_VERSION, state: before });
    expect([before.tombstones.length, before.requests.length]).toEqual([1, 2]);
    const begun = initialState({ ...INPUT, ...(carried === undefined ? {} : { carried }) });
    expect(begun.state).toEqual(before);
  });

  it('of a later version is refused, so that its conversation waits for a newer worker', {
    ...promise('G203'),
  }, () => {
    const carried = {
      version: (CARRIED_VERSION + 1) as typeof CARRIED_VERSION,
      state: state(),
      events: [],
    };
    expect(() => initialState({ ...INPUT, carried })).toThrow(/needs a newer worker/);
  });
});

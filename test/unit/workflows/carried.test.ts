/** In which form a run hands its state to the next, and which forms are read. */
import { describe, expect, it } from 'vitest';
import type { ConversationInput } from '../../../src/protocol/messaging.js';
import { initialState, nextInput } from '../../../src/workflows/carried.js';
import { DENY, gatedCall, modelCalls, settings } from '../../support/core-builders.js';
import { aMachineWith } from '../../support/core-driver.js';

const INPUT: ConversationInput = {
  tenant: 'default',
  conversationId: 'order-42',
  agent: 'support',
  settings: settings(),
};
const REST = { unconfirmed: [], knownChunks: new Set<string>(), untold: [] };

/** With an ended call, and the requests of a message and of an answer. */
function state(): ReturnType<typeof aMachineWith>['state'] {
  const m = aMachineWith(modelCalls([gatedCall('c')]));
  m.resolve('c', DENY, { requestId: 'no' });
  return m.state;
}

describe('what a run remembers', () => {
  it('is carried in the form of before in conversations of before, and packed in others', () => {
    const before = state();
    expect(nextInput(INPUT, before, REST)).toMatchObject({
      carried: { version: 1, state: before },
    });
    const packed = nextInput({ ...INPUT, packs: true }, before, REST);
    expect(packed).toMatchObject({
      packs: true,
      carried: { version: 3, state: { tombstones: [], requests: [] } },
    });
  });

  it('is packed once it was, whatever the input says: a run that does not pack leaves it alone', () => {
    const { carried } = nextInput({ ...INPUT, packs: true }, state(), REST);
    const begun = initialState({ ...INPUT, ...(carried === undefined ? {} : { carried }) });
    expect(nextInput(INPUT, begun.state, REST).carried).toMatchObject({ version: 3 });
  });

  it('of every known version is read as it is', () => {
    for (const version of [1, 2, 3] as const) {
      const carried = { version, state: state(), events: [] };
      expect(initialState({ ...INPUT, carried }).state).toEqual(carried.state);
    }
  });

  it('of a later version is refused, so that its conversation waits for a newer worker', () => {
    const carried = { version: 5 as 4, state: state(), events: [] };
    expect(() => initialState({ ...INPUT, carried })).toThrow(/needs a newer worker/);
  });
});

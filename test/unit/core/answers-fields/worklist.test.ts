/** The worklist says who may answer a call; the conversation judges. Both must agree. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { requestersOf } from '../../../../src/core/calls/audience.js';
import { snapshotOf } from '../../../../src/core/view/snapshot.js';
import { mayAnswer, waitingItem, worklistItem } from '../../../../src/core/view/worklist.js';
import type { StampedActor } from '../../../../src/protocol/values/actors.js';
import type { Audience } from '../../../../src/protocol/values/audience.js';
import {
  APPROVE,
  actor,
  answer,
  gatedCall,
  modelCalls,
  plannedCall,
} from '../../../support/builders/core-builders.js';
import { promise } from '../../../support/promise.js';
import { aMachine, type MachineUnderTest } from '../../../support/schedules/core-driver.js';
import { claimed, offered } from '../../../support/schedules/core-offers.js';

const IDS = ['ann', 'bo', 'cat', 'requester'];
const ROLES = ['lead', 'ops'];
const names = (from: readonly string[]) =>
  fc.option(fc.uniqueArray(fc.constantFrom(...from), { minLength: 1 }), { nil: undefined });
const part = fc
  .record({
    users: names(IDS),
    roles: names(ROLES),
    exclude: names(IDS),
    requireVerified: fc.constantFrom(undefined, true as const),
  })
  .map(
    (fields) =>
      Object.fromEntries(
        Object.entries(fields).filter(([, value]) => value !== undefined),
      ) as Audience,
  );
const audiences = fc
  .tuple(part, fc.array(part, { maxLength: 2 }))
  .map(([own, also]): Audience => (also.length === 0 ? own : { ...own, also }));
const actors: fc.Arbitrary<StampedActor> = fc.record({
  id: fc.constantFrom(...IDS),
  roles: fc.subarray(ROLES),
  verified: fc.boolean(),
  channel: fc.constant('api' as const),
});

/** A turn that Ann began and Bo joined, in which one call waits. */
function waiting(audience: Audience, kind: 'approval' | 'elicitation'): MachineUnderTest {
  const m = aMachine();
  m.send('hello', { actor: actor('ann') });
  m.send('wait', { actor: actor('bo'), onBusy: 'steer' });
  const call =
    kind === 'approval'
      ? gatedCall('c', { approval: { needed: true, audience } })
      : plannedCall('c', { executor: 'human', answerAudience: audience });
  return m.model(modelCalls([call]));
}

function itemOf(m: MachineUnderTest) {
  const snapshot = snapshotOf(m.state);
  const [pending] = snapshot.pending;
  const call = m.state.calls['c'];
  if (pending === undefined || call === undefined) throw new TypeError('no call waits');
  return waitingItem(pending, snapshot, requestersOf(m.state, call));
}

function verdictFor(m: MachineUnderTest, fields: object): string {
  const refusal = m.machine.refusalOf('resolveToolCall', {
    toolCallId: 'c',
    requestId: 'r',
    ...fields,
  });
  return refusal?.verdict ?? 'accepted';
}

describe('an item of the worklist', () => {
  it('says that an actor may answer exactly where the conversation takes the answer', {
    ...promise('G351'),
  }, () => {
    const kinds = fc.constantFrom('approval' as const, 'elicitation' as const);
    fc.assert(
      fc.property(audiences, actors, kinds, (audience, by, kind) => {
        const m = waiting(audience, kind);
        const resolution = kind === 'approval' ? APPROVE : answer('yes');
        const verdict = verdictFor(m, { resolution, actor: by });
        const { mayAnswer: may, why } = mayAnswer(itemOf(m), by);
        expect([verdict, why]).toEqual([
          may ? 'accepted' : 'forbidden',
          expect.stringMatching(/./),
        ]);
      }),
      { numRuns: 300 },
    );
  });

  it('says that only the holder may answer a claimed call', promise('G351'), () => {
    const m = offered();
    const { claimId } = claimed(m);
    for (const [id, verdict, why] of [
      ['ann', 'accepted', 'every actor may answer'],
      ['bo', 'stale', 'ann holds the call'],
    ] as const) {
      const by = actor(id);
      const resolution = { type: 'result', value: 1 };
      expect(verdictFor(m, { resolution, actor: by, claimId })).toBe(verdict);
      expect(mayAnswer(itemOf(m), by)).toEqual({ mayAnswer: verdict === 'accepted', why });
    }
  });

  it.each<[string, Audience, Partial<StampedActor>, string]>([
    ['a user who is named', { users: ['cat'], roles: ['lead'] }, {}, 'user cat'],
    ['a role', { users: ['bo'], roles: ['ops', 'lead'] }, { roles: ['lead'] }, 'role lead'],
    [
      'two rules',
      { users: ['cat'], also: [{ roles: ['ops'] }] },
      { roles: ['ops'] },
      'user cat and role ops',
    ],
    ['no rule', { exclude: ['requester'] }, {}, 'every actor may answer'],
    [
      'a role that is missing',
      { roles: ['lead'] },
      {},
      'the actor is not in the audience of this call',
    ],
    [
      'one who asked for it',
      { exclude: ['requester'] },
      { id: 'bo' },
      'requesters of this call may not decide it',
    ],
    [
      'one who is excluded',
      { exclude: ['cat'] },
      {},
      'the actor is excluded from deciding this call',
    ],
    [
      'one who is not verified',
      { requireVerified: true },
      { verified: false },
      'the actor is not verified, and must be to decide this call',
    ],
  ])('gives the reason in words: %s', (_, audience, by, why) => {
    const item = worklistItem(itemOf(waiting(audience, 'approval')), actor('cat', by));
    expect(item.why).toBe(why);
  });

  it('describes its audience in words', () => {
    const audience = { roles: ['lead', 'ops'], exclude: ['requester', "o'neil"] };
    const item = worklistItem(itemOf(waiting(audience, 'approval')), actor('cat'));
    expect(item.audience).toBe("role lead, ops, but not the requester, but not o'neil");
    expect(worklistItem(itemOf(waiting({}, 'approval')), actor('cat')).audience).toBe('anybody');
  });
});

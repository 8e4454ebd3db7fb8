/** A conversation admits no text that UTF-8 cannot hold, by any way in. */

import { describe, expect, it } from 'vitest';
import { inboxFieldProblems } from '../../../../src/protocol/conversation/inbox.js';
import { NOT_WELL_FORMED } from '../../../../src/protocol/values/well-formed.js';
import { answer, modelCalls, plannedCall } from '../../../support/builders/core-builders.js';
import {
  cancelTurn,
  refuseClaim,
  refuseExtension,
  resolveBySignal,
  sendMessageBySignal,
} from '../../../support/builders/verbs.js';
import { promise } from '../../../support/promise.js';
import { aMachine, aMachineWith } from '../../../support/schedules/core-driver.js';
import { expectInvariants } from '../../../support/schedules/core-invariants.js';

const LONE = 'a\ud800b';
const at = (path: string) => [{ path, message: NOT_WELL_FORMED }];

describe('a lone surrogate', () => {
  it.each([
    ['/text', { text: LONE }],
    ['/requestId', { text: 'hi', requestId: LONE }],
    ['/actor/name', { text: 'hi', actor: { id: 'ann', name: LONE } }],
    ['/output/title', { text: 'hi', output: { type: 'object', title: LONE } }],
  ])('in a message is refused by its field: %s', promise('G246'), (path, fields) => {
    const m = aMachine();
    const { text, ...rest } = fields;
    expect(m.trySend(text, rest)).toMatchObject({
      accepted: false,
      refusal: { code: 'invalid_request', problems: at(path) },
    });
  });

  it.each([
    ['/resolution/value', { resolution: answer(LONE) }],
    ['/resolution/value/x', { resolution: answer({ x: LONE }) }],
    ['/resolution/value/a\ufffdb', { resolution: answer({ [LONE]: 1 }) }],
    ['/actor/id', { resolution: answer(1), actor: { id: LONE } }],
  ])(
    'in an answer is refused by its field, and the call stays open: %s',
    promise('G246'),
    (path, fields) => {
      const m = aMachineWith(modelCalls([plannedCall('q', { executor: 'human' })]));
      const { resolution, ...rest } = fields;
      expect(m.resolve('q', resolution, rest)).toEqual({ verdict: 'invalid', problems: at(path) });
      expect(m.pending).toHaveLength(1);
    },
  );

  it('in a signal is refused, and the log contains none', promise('G246'), () => {
    const m = aMachineWith(modelCalls([plannedCall('q', { executor: 'human' })]));
    sendMessageBySignal(m.machine, { text: LONE, requestId: LONE, actor: { id: LONE } });
    resolveBySignal(m.machine, { toolCallId: 'q', resolution: answer(LONE), requestId: LONE });
    resolveBySignal(m.machine, { toolCallId: LONE, resolution: answer(1) });
    expect(m.types()).toEqual(['message_refused', 'resolution_refused', 'resolution_refused']);
    expect(JSON.stringify(m.events)).not.toContain('\\ud800');
    expectInvariants(m);
  });

  it('in an event of another system, a claim and an extension is refused by its field', () => {
    const event = { eventId: 'e', kind: 'k', payload: { deep: [LONE] } };
    expect(inboxFieldProblems(event)).toEqual(at('/payload/deep/0'));
    const m = aMachineWith(modelCalls([plannedCall('c', { executor: 'client' })]));
    const claim = { toolCallId: 'c', requestId: LONE, actor: { id: 'ann' } };
    expect(refuseClaim(m.machine, claim)).toEqual({
      verdict: 'invalid',
      problems: at('/requestId'),
    });
    const move = { toolCallId: 'c', requestId: LONE, by: 1_000 };
    expect(refuseExtension(m.machine, move)).toMatchObject({
      verdict: 'invalid',
      problems: expect.arrayContaining(at('/requestId')) as unknown[],
    });
  });

  it('in the reason of a stop does not prevent the stop: U+FFFD takes its place', () => {
    const m = aMachineWith(modelCalls([plannedCall('q', { executor: 'human' })]));
    expect(cancelTurn(m.machine, { reason: LONE, actor: { id: LONE } })).toMatchObject({
      cancelled: true,
    });
    expect(m.events.find(({ type }) => type === 'cancel_requested')).toMatchObject({
      reason: 'a\ufffdb',
      actor: { id: 'a\ufffdb' },
    });
  });
});

/** Approval gates: the approver, the run, the result that the model reads. */
import { describe, expect, it } from 'vitest';
import {
  APPROVE,
  actor,
  DENY,
  gatedCall,
  modelCalls,
  plannedCall,
} from '../../../support/builders/core-builders.js';
import { promise } from '../../../support/promise.js';
import { aMachineWith } from '../../../support/schedules/core-driver.js';

describe('an approval', () => {
  it('lets the tool run with the arguments that were shown, under the approver’s name (S3)', {
    ...promise('S3', 'A3', 'A11', 'A25', 'A30', 'H41', 'C23', 'C25', 'C27', 'C29', 'C30', 'C31'),
  }, () => {
    const plan = gatedCall('c1', { input: { cents: 9000 } });
    const m = aMachineWith(modelCalls([plan]));
    expect(m.pending).toMatchObject([
      {
        toolCallId: 'c1',
        kind: 'approval',
        prompt: { cents: 9000 },
        reason: 'costs money',
        argsDigest: plan.argsDigest,
        ref: 'default~order-42~c1',
      },
    ]);
    expect(m.pending[0]).not.toHaveProperty('answerSchema');

    m.resolve('c1', APPROVE, { actor: actor('lead') });
    expect(m.types()).toEqual(['resolution']);
    expect(m.effects()).toEqual([{ type: 'run_tool', toolCallId: 'c1', run: 1 }]);
    expect(m.state.calls['c1']).toMatchObject({ approver: { id: 'lead' }, plan });

    m.tool('c1');
    expect(m.types()).toEqual(['tool_result']);
    expect(m.effectTypes()).toEqual(['call_model']);
  });

  it('denied leaves the tool unrun, and gives the model the default text or the reason (S4)', {
    ...promise('S4', 'C30', 'C32', 'X23'),
  }, () => {
    const m = aMachineWith(modelCalls([gatedCall('a'), gatedCall('b')]));
    m.resolve('a', DENY, { actor: actor('lead') });
    m.resolve('b', { type: 'deny', reason: 'too much' });
    expect(m.types()).toEqual(['resolution', 'tool_result', 'resolution', 'tool_result']);
    expect(m.all('tool_result').map((event) => event.result)).toMatchObject([
      {
        status: 'denied',
        envelope: { ok: false, error: { code: 'denied', message: 'Rejected by user' } },
        actor: { id: 'lead' },
      },
      { status: 'denied', envelope: { error: { message: 'too much' } } },
    ]);
    expect(m.effectTypes()).toEqual(['call_model']);
  });

  it('of a client tool opens a second wait under the same id, which a second approve cannot answer (S6, N1)', {
    ...promise('G40', 'S6', 'A15'),
  }, () => {
    const m = aMachineWith(
      modelCalls([gatedCall('c1', { executor: 'client', answerSchema: { type: 'object' } })]),
    );
    expect(m.resolve('c1', APPROVE, { actor: actor('lead') })).toMatchObject({
      verdict: 'accepted',
    });
    expect(m.types()).toEqual(['resolution', 'suspension']);
    expect(m.pending).toMatchObject([
      { kind: 'client_execution', answerSchema: { type: 'object' } },
    ]);

    expect(m.resolve('c1', APPROVE)).toMatchObject({
      verdict: 'stale',
      why: 'already_resolved',
      by: 'lead',
      openKind: 'client_execution',
    });
    expect(m.types()).toEqual([]);

    expect(m.resolve('c1', { type: 'result', value: { items: 2 } })).toMatchObject({
      verdict: 'accepted',
    });
    expect(m.types()).toEqual(['resolution', 'tool_result']);
    expect(m.last('tool_result').result).toMatchObject({
      status: 'resolved',
      envelope: { ok: true, result: { items: 2 } },
      provenance: 'untrusted',
    });
  });

  it('gives each phase its own time: a slow approval does not shorten the client’s', {
    ...promise('A15'),
  }, () => {
    const m = aMachineWith(modelCalls([gatedCall('c1', { executor: 'client' })]));
    m.advance(50 * 60_000);
    m.resolve('c1', APPROVE);
    expect(m.pending[0]?.deadline).toBe(m.clock.iso(10 * 60_000));
  });

  it('works for every executor that may be gated, and each then acts as without a gate', {
    ...promise('A1', 'A4'),
  }, () => {
    const outcome = modelCalls([
      gatedCall('s'),
      gatedCall('e', { executor: 'external' }),
      gatedCall('i', { executor: 'internal' }),
    ]);
    const m = aMachineWith(outcome);
    for (const callId of ['i', 'e', 's']) m.resolve(callId, APPROVE);
    expect(m.types()).toEqual([
      ...['resolution', 'tool_result'],
      ...['resolution', 'suspension'],
      'resolution',
    ]);
    expect(m.effects()).toMatchObject([
      { type: 'run_tool', toolCallId: 's', run: 1 },
      { type: 'await_deadline', toolCallId: 'e', kind: 'external_execution' },
    ]);
  });

  it('with another digest than the pending one is refused, and the call stays open', () => {
    const plan = gatedCall('c1');
    const m = aMachineWith(modelCalls([plan]));
    expect(m.resolve('c1', APPROVE, { argsDigest: 'sha256:other' })).toEqual({
      verdict: 'invalid',
      problems: [{ path: '/argsDigest', message: 'is not the digest of the pending call' }],
    });
    expect(m.types()).toEqual([]);
    expect(m.resolve('c1', APPROVE, { argsDigest: plan.argsDigest })).toMatchObject({
      verdict: 'accepted',
    });
  });

  it('opens beside others in one step, and accepts answers in any order', () => {
    const m = aMachineWith(modelCalls([gatedCall('a'), gatedCall('b'), plannedCall('c')]));
    m.resolve('b', APPROVE);
    m.tool('c').tool('b');
    m.resolve('a', DENY);
    expect(m.types()).toEqual([
      'resolution',
      'tool_result',
      'tool_result',
      'resolution',
      'tool_result',
    ]);
    expect(m.messages.at(-1)?.parts.map((part) => 'toolCallId' in part && part.toolCallId)).toEqual(
      ['a', 'b', 'c'],
    );
  });
});

describe('a person or a client', () => {
  it('that declines or reports an error gives the model an error under their name', () => {
    const m = aMachineWith(
      modelCalls([
        plannedCall('q', { executor: 'human' }),
        plannedCall('r', { executor: 'human' }),
        plannedCall('c', { executor: 'client' }),
      ]),
    );
    m.resolve('q', { type: 'decline' });
    m.resolve('r', { type: 'decline', reason: 'not my business' });
    m.resolve('c', { type: 'error', message: 'camera is off' });
    expect(m.all('tool_result').map((event) => event.result)).toMatchObject([
      {
        status: 'errored',
        provenance: 'untrusted',
        envelope: { error: { code: 'declined', message: 'The user declined to answer' } },
      },
      { status: 'errored', envelope: { error: { message: 'not my business' } } },
      {
        status: 'errored',
        provenance: 'untrusted',
        envelope: { error: { code: 'client_error', message: 'camera is off' } },
      },
    ]);
  });

  it('whose answer does not fit the schema gets the faulty fields, and the call stays open (S18)', {
    ...promise('S18', 'A50'),
  }, () => {
    const answerSchema = {
      type: 'object',
      properties: { size: { type: 'integer', minimum: 1 } },
      required: ['size'],
      additionalProperties: false,
    };
    const m = aMachineWith(modelCalls([plannedCall('q', { executor: 'human', answerSchema })]));
    const verdict = m.resolve('q', { type: 'answer', value: { size: 0 } });
    expect(verdict).toMatchObject({
      verdict: 'invalid',
      problems: [{ path: '/resolution/value/size' }],
    });
    expect(m.resolve('q', { type: 'answer', value: 'x'.repeat(200 * 1024) })).toMatchObject({
      verdict: 'invalid',
    });
    expect(m.types()).toEqual([]);
    expect(m.resolve('q', { type: 'answer', value: { size: 3 } })).toMatchObject({
      verdict: 'accepted',
    });
  });

  it('cannot crash the call by a faulty schema: the answer is refused, the deadline still ends the call', () => {
    for (const answerSchema of [{ $ref: '#/$defs/nowhere' }, { $ref: '#' }, { type: 17 }]) {
      const m = aMachineWith(modelCalls([plannedCall('q', { executor: 'human', answerSchema })]));
      expect(m.resolve('q', { type: 'answer', value: 1 })).toMatchObject({ verdict: 'invalid' });
      m.advance(10 * 60_000);
      expect(m.effectTypes()).toEqual(['call_model']);
    }
  });
});

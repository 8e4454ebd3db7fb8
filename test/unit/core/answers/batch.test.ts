/** All client calls of a step as one batch: exact, ordered, accepted whole or not at all. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BatchResult, BatchVerdict } from '../../../../src/protocol/calls/batches.js';
import type { PlannedCall } from '../../../../src/protocol/calls/plan.js';
import { MAX_ANSWER_BYTES, MAX_BATCH_BYTES } from '../../../../src/protocol/limits/limits.js';
import { stepIdFor } from '../../../../src/protocol/values/ids.js';
import { callPlanned, toolPrepared } from '../../../support/builders/call-ends.js';
import {
  ANSWER_MS,
  APPROVE,
  actor,
  brokenCall,
  gatedCall,
  modelCalls,
  modelSays,
  plannedCall,
  result,
  turn,
} from '../../../support/builders/core-builders.js';
import { refuseBatch, resolveBatch } from '../../../support/builders/verbs.js';
import { promise } from '../../../support/promise.js';
import { aMachineWith, type MachineUnderTest } from '../../../support/schedules/core-driver.js';

const STEP = stepIdFor(turn(1), 1);
const client = (id: string, more: Partial<PlannedCall> = {}): PlannedCall =>
  plannedCall(id, { executor: 'client', ...more });
const ok = (toolCallId: string, value: unknown = 1): BatchResult => ({
  toolCallId,
  resultJson: JSON.stringify(value),
});

function send(
  m: MachineUnderTest,
  results: unknown,
  fields: Record<string, unknown> = {},
): BatchVerdict {
  const input = { stepId: STEP, results, requestId: 'batch-1', actor: actor('ann'), ...fields };
  const before = m.events.length;
  const refusal = refuseBatch(m.machine, input);
  const verdict = resolveBatch(m.machine, input);
  // The validator agrees with the handler, and a refusal records nothing.
  if (verdict.verdict === 'accepted') expect(refusal).toBeUndefined();
  else expect([refusal, m.events.length]).toEqual([verdict, before]);
  return verdict;
}

/** Two client calls with a server call and a question between them. */
function mixed(): MachineUnderTest {
  return aMachineWith(
    modelCalls([
      client('a'),
      plannedCall('s'),
      plannedCall('q', { executor: 'human' }),
      client('b'),
    ]),
  );
}

describe('the results of a step', () => {
  it('are accepted together when they are those of its open client calls in their order', {
    ...promise('S38'),
  }, () => {
    const m = mixed();
    const verdict = send(m, [
      { toolCallId: 'a', resultJson: '{"items":[1]}', executionMs: 12 },
      { toolCallId: 'b', errorMessage: 'no camera', executionMs: 3 },
    ]);
    const [first, second] = m.all('resolution');
    expect(verdict).toEqual({
      verdict: 'accepted',
      stepId: STEP,
      seq: second?.seq,
      results: [
        { verdict: 'accepted', toolCallId: 'a', seq: first?.seq },
        { verdict: 'accepted', toolCallId: 'b', seq: second?.seq },
      ],
    });
    expect(m.types()).toEqual(['resolution', 'resolution', 'tool_result', 'tool_result']);
    expect(m.all('tool_result').map(({ toolCallId, result: it }) => [toolCallId, it])).toEqual([
      [
        'b',
        {
          status: 'errored',
          envelope: { ok: false, error: { code: 'client_error', message: 'no camera' } },
          provenance: 'untrusted',
          actor: actor('ann'),
          executionMs: 3,
        },
      ],
      [
        'a',
        {
          status: 'resolved',
          envelope: { ok: true, result: { items: [1] } },
          provenance: 'untrusted',
          actor: actor('ann'),
          executionMs: 12,
        },
      ],
    ]);
    m.tool('s').resolve('q', { type: 'answer', value: 1 });
    expect(m.effectTypes()).toEqual(['call_model']);
  });

  it('end the step at once when no other call of it is open, for results of every kind', () => {
    const m = aMachineWith(modelCalls([client('a'), client('b')]));
    const failed = { errorMessage: 'no' };
    send(m, [
      { toolCallId: 'a', ...failed },
      { toolCallId: 'b', ...failed },
    ]);
    expect(m.effectTypes()).toEqual(['call_model']);
  });

  it.each<[string, unknown, string[]]>([
    ['one too few', [ok('a')], ['/results']],
    ['one too many', [ok('a'), ok('b'), ok('s')], ['/results']],
    ['in another order', [ok('b'), ok('a')], ['/results/0/toolCallId', '/results/1/toolCallId']],
    ['one of them twice', [ok('a'), ok('a')], ['/results/1/toolCallId']],
    ['of a call that does not exist', [ok('a'), ok('zz')], ['/results/1/toolCallId']],
    ['no list', 'a and b', ['/results']],
    ['no records', [null, 7], ['/results/0', '/results/1']],
    ['without a result', [ok('a'), { toolCallId: 'b' }], ['/results/1']],
    ['with both', [ok('a'), { ...ok('b'), errorMessage: 'x' }], ['/results/1']],
    ['no JSON', [ok('a'), { toolCallId: 'b', resultJson: '{' }], ['/results/1/resultJson']],
    ['no text', [ok('a'), { toolCallId: 'b', resultJson: 7 }], ['/results/1/resultJson']],
    ['with a field of no meaning', [{ ...ok('a'), note: 1 }, ok('b')], ['/results/0/note']],
    ['timed backwards', [{ ...ok('a'), executionMs: -1 }, ok('b')], ['/results/0/executionMs']],
  ])(
    'are refused whole when there is %s, and each fault is named',
    promise('S38'),
    (_what, results, paths) => {
      const m = mixed();
      const verdict = send(m, results);
      expect(verdict.verdict).toBe('invalid');
      expect('faults' in verdict ? verdict.faults.map(({ path }) => path) : []).toEqual(
        expect.arrayContaining(paths),
      );
      expect(m.pending.map(({ toolCallId }) => toolCallId)).toEqual(['a', 'q', 'b']);
    },
  );

  it('are refused whole when one is of the wrong shape for its tool', () => {
    const answerSchema = { type: 'object', required: ['n'], properties: { n: { type: 'number' } } };
    const m = aMachineWith(modelCalls([client('a'), client('b', { answerSchema })]));
    expect(send(m, [ok('a'), ok('b', { n: 'one' })])).toMatchObject({
      verdict: 'invalid',
      faults: [{ path: '/results/1/resultJson/n', toolCallId: 'b', verdict: 'invalid' }],
    });
    expect(m.types()).toEqual([]);
  });

  it('are refused whole when one is forbidden, and this verdict precedes all others', () => {
    const m = aMachineWith(
      modelCalls([client('a'), client('b', { answerAudience: { users: ['cleo'] } })]),
    );
    expect(send(m, [{ toolCallId: 'a', resultJson: '{' }, ok('b')])).toMatchObject({
      verdict: 'forbidden',
      faults: [
        { path: '/results/0/resultJson', verdict: 'invalid' },
        { path: '/results/1', toolCallId: 'b', verdict: 'forbidden' },
      ],
    });
    expect(m.types()).toEqual([]);
  });

  it.each(['reject', 'inbox'] as const)(
    'are refused whole when one comes after its deadline, of a tool with late results: %s',
    (lateResult) => {
      const timeouts = { approvalMs: 1, answerMs: 5, runMs: 1 };
      const m = aMachineWith(modelCalls([client('a', { timeouts, lateResult }), client('b')]));
      m.clock.advance(ANSWER_MS / 2);
      expect(send(m, [ok('a'), ok('b')])).toMatchObject({
        verdict: 'expired',
        faults: [{ path: '/results/0', toolCallId: 'a', verdict: 'expired' }],
      });
      expect(
        send(m, [ok('a'), ok('b')], { receivedAt: m.clock.iso(-ANSWER_MS / 2) }),
      ).toMatchObject({
        verdict: 'accepted',
      });
    },
  );

  it('may be as large together as one limit allows', () => {
    const large = 'x'.repeat(MAX_ANSWER_BYTES - 2);
    const three = ['a', 'b', 'c'].map((id) => client(id));
    const m = aMachineWith(modelCalls(three));
    expect(send(m, [ok('a', large), ok('b', large), ok('c', large)])).toMatchObject({
      verdict: 'invalid',
      faults: [
        {
          path: '/results',
          message: `must be at most ${MAX_BATCH_BYTES} bytes together, got ${3 * MAX_ANSWER_BYTES}`,
        },
      ],
    });
    expect(send(m, [ok('a', large), ok('b', large.slice(1)), ok('c')])).toMatchObject({
      verdict: 'accepted',
    });
  });
});

describe('a step whose client calls are not all open', () => {
  it('is not ready while one waits for its approval or its preflight, and says which', {
    ...promise('X37'),
  }, () => {
    const m = aMachineWith(
      modelCalls([
        client('a'),
        gatedCall('b', { executor: 'client' }),
        client('c', { preflight: true }),
      ]),
    );
    const waiting = [
      { toolCallId: 'b', name: 'client.tool', waitsFor: 'approval' },
      { toolCallId: 'c', name: 'client.tool', waitsFor: 'preflight' },
    ];
    expect(send(m, [ok('a'), ok('b'), ok('c')])).toEqual({ verdict: 'not_ready', waiting });
    toolPrepared(m.machine, 'c', { ok: true, payload: { shaped: 1 }, argsDigest: 'sha256:p' });
    m.resolve('b', APPROVE);
    expect(send(m, [ok('a'), ok('b'), ok('c')])).toMatchObject({ verdict: 'accepted' });
  });

  it('needs no results of calls that were denied, are invalid, or were answered alone', () => {
    const m = aMachineWith(
      modelCalls([
        client('a'),
        gatedCall('b', { executor: 'client' }),
        client('c'),
        { ...brokenCall('d'), executor: 'client' },
      ]),
    );
    m.resolve('b', { type: 'deny' });
    m.resolve('a', result(1));
    expect(send(m, [ok('a'), ok('c')])).toMatchObject({
      verdict: 'stale',
      faults: expect.arrayContaining([
        expect.objectContaining({ path: '/results/0', verdict: 'stale', toolCallId: 'a' }),
      ]) as unknown,
    });
    expect(send(m, [ok('c')])).toMatchObject({ verdict: 'accepted' });
  });

  it('takes one after the other where its calls run so', () => {
    const b = client('b', { unplanned: { argumentsJson: '{}' } });
    const m = aMachineWith(modelCalls([client('a'), b]), {
      settings: { toolExecution: 'sequential' },
    });
    expect(send(m, [ok('a')])).toMatchObject({ verdict: 'accepted' });
    callPlanned(m.machine, 'b', client('b'));
    expect(send(m, [ok('b')], { requestId: 'batch-2' })).toMatchObject({ verdict: 'accepted' });
    expect(m.effectTypes()).toEqual(['call_model']);
  });
});

describe('a batch that is repeated', () => {
  it('is a duplicate under its request id, also after its step, a roll-over and a restart', () => {
    const m = mixed();
    const results = [ok('a'), ok('b')];
    const first = send(m, results);
    expect(send(m, results)).toEqual({ verdict: 'duplicate', first });
    expect(send(m, results, { requestId: 'batch-2' })).toEqual({ verdict: 'stale', faults: [] });
    m.tool('s').resolve('q', { type: 'answer', value: 1 });
    m.model(modelSays('done'));
    m.rollOver();
    expect(send(m, results)).toEqual({ verdict: 'duplicate', first });
    expect(send(m, results, { requestId: 'batch-2' })).toEqual({ verdict: 'stale', faults: [] });
  });

  it('may be sent again for the call whose answer the worker rejected', () => {
    const m = aMachineWith(modelCalls([client('a', { recheckAnswer: true }), client('b')]));
    send(m, [ok('a'), ok('b')]);
    m.checkFails('a');
    expect(send(m, [ok('a')])).toMatchObject({ verdict: 'accepted' });
    m.checked('a', 2);
    expect(m.effectTypes()).toEqual(['call_model']);
  });
});

describe('a step', () => {
  it.each([
    ['that is no id', 'x', { verdict: 'unknown', what: 'step' }],
    ['of another conversation', 'turn_other_1.1', { verdict: 'unknown', what: 'step' }],
    ['that has not come', stepIdFor(turn(1), 2), { verdict: 'unknown', what: 'step' }],
    ['that is missing', undefined, { verdict: 'invalid' }],
  ])('%s takes nothing', (_what, stepId, verdict) => {
    expect(send(mixed(), [ok('a'), ok('b')], { stepId })).toMatchObject(verdict);
  });

  it('that is over is stale, in its turn and after it', () => {
    const m = aMachineWith(modelCalls([plannedCall('s')]));
    m.tool('s').model(modelCalls([client('a')]));
    expect(send(m, [ok('a')])).toEqual({ verdict: 'stale', faults: [] });
    expect(send(m, [ok('a')], { stepId: stepIdFor(turn(1), 2) })).toMatchObject({
      verdict: 'accepted',
    });
    m.model(modelSays('done'));
    expect(send(m, [ok('a')], { requestId: 'other' })).toEqual({ verdict: 'stale', faults: [] });
  });
});

it('of all lists of its calls, a step accepts only the exact one', promise('G125', 'S38'), () => {
  const ids = ['a', 'b', 'c'];
  const lists = fc.array(fc.constantFrom(...ids, 's', 'zz'), { maxLength: 5 });
  fc.assert(
    fc.property(lists, fc.boolean(), (list, isBroken) => {
      const m = aMachineWith(modelCalls([client('a'), plannedCall('s'), client('b'), client('c')]));
      const results = list.map((id, index) =>
        isBroken && index === 1 ? { toolCallId: id, resultJson: 'x' } : ok(id),
      );
      const verdict = send(m, results);
      const isExact = list.join() === ids.join() && !isBroken;
      expect(verdict.verdict === 'accepted').toBe(isExact);
      expect(m.all('resolution')).toHaveLength(isExact ? 3 : 0);
    }),
  );
});

it('no malformed batch is accepted, and none throws', () => {
  const m = mixed();
  fc.assert(
    fc.property(fc.anything(), fc.anything(), (junk, more) => {
      for (const input of [
        junk,
        { stepId: STEP, results: junk },
        { stepId: STEP, results: [junk, more], requestId: more, actor: junk },
      ])
        expect(refuseBatch(m.machine, input)).toBeDefined();
    }),
  );
});

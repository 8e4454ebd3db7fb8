/** The refusal of each field of an answer names the field and its rule; a value at the bound is accepted. */
import { describe, expect, it } from 'vitest';
import type { Resolution } from '../../../../src/protocol/calls/resolutions.js';
import {
  MAX_ANSWER_BYTES,
  MAX_ANSWER_DEPTH,
  MAX_ID_CHARS,
  MAX_REASON_CHARS,
} from '../../../../src/protocol/limits/limits.js';
import {
  actor,
  gatedCall,
  modelCalls,
  plannedCall,
} from '../../../support/builders/core-builders.js';
import { resolve } from '../../../support/builders/verbs.js';
import { aMachineWith, type MachineUnderTest } from '../../../support/schedules/core-driver.js';

const approval = () => aMachineWith(modelCalls([gatedCall('c')]));
const question = () => aMachineWith(modelCalls([plannedCall('c', { executor: 'human' })]));
const client = () => aMachineWith(modelCalls([plannedCall('c', { executor: 'client' })]));

const given = (m: MachineUnderTest, resolution: unknown, fields: object = {}) =>
  m.resolve('c', resolution as Resolution, { requestId: 'r', ...fields });

/** A JSON text of so many bytes. */
const sized = (bytes: number): string => 'x'.repeat(bytes - 2);
const nested = (depth: number): unknown =>
  Array.from({ length: depth }).reduce<unknown>((inner) => [inner], 0);
const reason = (length: number) => ({ type: 'deny', reason: 'x'.repeat(length) });
const edit = (input: unknown) => ({ type: 'approve', input });

const REFUSED: readonly [
  what: string,
  make: () => MachineUnderTest,
  resolution: unknown,
  path: string,
  message: string,
][] = [
  ['no object', approval, 7, '/resolution/type', 'must be "approve" or "deny"'],
  ['no type', question, {}, '/resolution/type', 'must be "answer" or "decline"'],
  ['an unknown type', client, { type: 'x' }, '/resolution/type', 'must be "result" or "error"'],
  [
    'a reason that is no text',
    approval,
    { type: 'deny', reason: 7 },
    '/resolution/reason',
    'must be a string',
  ],
  [
    'a long reason',
    approval,
    reason(MAX_REASON_CHARS + 1),
    '/resolution/reason',
    `must be at most ${MAX_REASON_CHARS} characters, got ${MAX_REASON_CHARS + 1}`,
  ],
  ['no message', client, { type: 'error' }, '/resolution/message', 'is required'],
  [
    'a field of another type',
    approval,
    { ...edit(1), value: 1 },
    '/resolution/value',
    'is not supported here',
  ],
  [
    'a field with a long name',
    question,
    { type: 'decline', ['y'.repeat(200)]: 1 },
    `/resolution/${'y'.repeat(MAX_ID_CHARS)}`,
    'is not supported here',
  ],
  [
    'what to remember, of a question',
    question,
    { type: 'decline', remember: { for: 'turn' } },
    '/resolution/remember',
    'is not supported here',
  ],
  [
    'a deep edit',
    approval,
    edit(nested(MAX_ANSWER_DEPTH + 1)),
    '/resolution/input',
    `must be JSON, nested at most ${MAX_ANSWER_DEPTH} deep`,
  ],
  [
    'a large edit',
    approval,
    edit(sized(MAX_ANSWER_BYTES + 1)),
    '/resolution/input',
    `must be at most ${MAX_ANSWER_BYTES} bytes, got ${MAX_ANSWER_BYTES + 1}`,
  ],
];

const ACCEPTED: readonly [what: string, make: () => MachineUnderTest, resolution: unknown][] = [
  ['a reason at its bound', approval, reason(MAX_REASON_CHARS)],
  ['an edit at its bound', approval, edit(sized(MAX_ANSWER_BYTES))],
  ['an edit as deep as allowed', approval, edit(nested(MAX_ANSWER_DEPTH))],
  ['a decline without a reason', question, { type: 'decline' }],
  ['an empty message of an error', client, { type: 'error', message: '' }],
];

describe('an answer', () => {
  it.each(REFUSED)('with %s is refused by the name of the field', (...row) => {
    const [, make, resolution, path, message] = row;
    const m = make();
    expect(given(m, resolution)).toEqual({ verdict: 'invalid', problems: [{ path, message }] });
    expect(m.types()).toEqual([]);
  });

  it.each(ACCEPTED)('with %s is accepted', (_, make, resolution) => {
    expect(given(make(), resolution)).toMatchObject({ verdict: 'accepted' });
  });

  it('names at most twenty unknown fields', () => {
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, nth) => [`f${nth}`, nth]));
    const refused = given(approval(), { type: 'approve', ...many });
    const problems = refused.verdict === 'invalid' ? refused.problems : [];
    expect(problems.map(({ path }) => path)).toEqual(
      Array.from({ length: 20 }, (_, nth) => `/resolution/f${nth}`),
    );
  });

  it('needs the id of a call, and the digest and the request id in their form', () => {
    const m = approval();
    const required = { path: '/toolCallId', message: 'must be a non-empty string' };
    for (const input of [undefined, 7, {}, { toolCallId: '' }, { toolCallId: 7 }])
      expect(resolve(m.machine, input)).toEqual({ verdict: 'invalid', problems: [required] });
    expect(given(m, { type: 'approve' }, { argsDigest: 'sha256:other', requestId: '' })).toEqual({
      verdict: 'invalid',
      problems: [
        { path: '/requestId', message: 'requestId must be a non-empty string' },
        { path: '/argsDigest', message: 'is not the digest of the pending call' },
      ],
    });
    expect(m.types()).toEqual([]);
  });

  it('is of a known call only, and the log has the time at which it was received', () => {
    const m = approval();
    expect(resolve(m.machine, { toolCallId: 'x', actor: actor('ann') })).toEqual({
      verdict: 'unknown',
      what: 'tool_call',
    });
    const receivedAt = m.clock.iso(-5);
    expect(given(m, { type: 'approve' }, { receivedAt })).toMatchObject({ verdict: 'accepted' });
    expect(m.last('resolution')).toMatchObject({ receivedAt, requestId: 'r' });
  });
});

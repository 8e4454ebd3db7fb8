/** Texts and bounds of the refusals of messages, inbox events, cancels, batches of results and reports of sub-agents. */
import { describe, expect, it } from 'vitest';
import {
  MAX_BATCH_BYTES,
  MAX_ID_CHARS,
  MAX_INBOX_EVENTS,
  MAX_MESSAGE_BYTES,
  MAX_QUEUED_MESSAGES,
  MAX_RUN_TIMEOUT_MS,
} from '../../../../src/protocol/limits/limits.js';
import { stepIdFor } from '../../../../src/protocol/values/ids.js';
import { actor, modelCalls, plannedCall, turn } from '../../../support/builders/core-builders.js';
import {
  cancelTurn,
  closeConversation,
  refuseCancel,
  resolveBatch,
  takeInboxEvent,
} from '../../../support/builders/verbs.js';
import {
  aMachine,
  aMachineWith,
  type MachineUnderTest,
} from '../../../support/schedules/core-driver.js';

const queueing = () => aMachine({ settings: { onBusy: 'queue' } });
const WAITS = `${2 * MAX_MESSAGE_BYTES} bytes of messages wait already`;

describe('a message', () => {
  it('for a busy, closed or other conversation is refused in words', () => {
    const m = aMachine();
    m.send('one');
    expect(m.trySend('two')).toEqual({
      accepted: false,
      refusal: {
        code: 'busy',
        message:
          'A turn is running; wait for its end, or send with onBusy "queue", "interrupt" or "steer"',
      },
    });
    expect(m.trySend('two', { agent: 'sales' })).toMatchObject({
      refusal: { message: 'The conversation belongs to agent "support"' },
    });
    expect(m.trySend('', {})).toMatchObject({ refusal: { message: 'The message breaks a rule' } });
    closeConversation(m.machine);
    expect(m.trySend('two')).toMatchObject({
      refusal: { message: 'The conversation is closed; reopen it to continue' },
    });
  });

  it('may ask for no form, and for one that is a schema only', () => {
    const m = queueing();
    expect(m.trySend('plain', { output: false })).toMatchObject({ accepted: true });
    expect(m.trySend('none', { output: 7 })).toMatchObject({
      refusal: { problems: [{ path: '/output' }] },
    });
    expect(m.trySend('a form', { output: { type: 'object' } })).toMatchObject({ accepted: true });
  });

  it('under a request id with other content names the field', () => {
    const m = queueing();
    m.send('one', { requestId: 'r' });
    expect(m.trySend('two', { requestId: 'r' })).toMatchObject({
      refusal: { message: 'The message breaks a rule', problems: [{ path: '/requestId' }] },
    });
    expect(m.trySend('one', { requestId: 'r' })).toMatchObject({
      refusal: { code: 'duplicate', message: 'Accepted before' },
    });
  });

  it('waits up to the bounds, whether it is queued or steers', () => {
    const half = 'x'.repeat(MAX_MESSAGE_BYTES);
    const m = queueing();
    m.send('first');
    m.send(half);
    m.send(half, { onBusy: 'steer' });
    expect(m.trySend('x')).toMatchObject({ refusal: { code: 'queue_full', message: WAITS } });
    const single = queueing();
    single.send('first');
    single.send(half);
    single.send(half.slice(1));
    expect(single.trySend('x')).toMatchObject({ accepted: true });
    expect(single.trySend('x')).toMatchObject({ refusal: { message: WAITS } });
  });

  it('is one of at most a hundred that wait', () => {
    const m = queueing();
    m.send('first');
    for (let nth = 1; nth < MAX_QUEUED_MESSAGES; nth += 1) m.send(`m${nth}`);
    m.send('the last', { onBusy: 'steer' });
    expect(m.trySend('one more')).toMatchObject({
      refusal: { code: 'queue_full', message: `${MAX_QUEUED_MESSAGES} messages wait already` },
    });
  });
});

describe('an inbox event', () => {
  const enter = (m: MachineUnderTest, fields: object) =>
    takeInboxEvent(m.machine, { kind: 'note', payload: 1, actor: actor('job'), ...fields });

  it('is refused in words: by its rules, its id, its agent, and how many wait', () => {
    const m = aMachineWith(modelCalls([plannedCall('q', { executor: 'human' })]));
    expect(enter(m, { eventId: 'e', agent: 'sales' })).toMatchObject({
      refusal: { code: 'agent_mismatch' },
    });
    expect(enter(m, { eventId: '' })).toMatchObject({
      refusal: { message: 'The event breaks a rule' },
    });
    for (let nth = 1; nth <= MAX_INBOX_EVENTS; nth += 1) enter(m, { eventId: `e${nth}` });
    expect(enter(m, { eventId: 'e1', payload: 2 })).toMatchObject({
      refusal: {
        message: 'The event breaks a rule',
        problems: [
          { path: '/eventId', message: 'was used before for an event with other content' },
        ],
      },
    });
    expect(enter(m, { eventId: 'one more' })).toEqual({
      accepted: false,
      refusal: { code: 'queue_full', message: `${MAX_INBOX_EVENTS} events wait already` },
    });
  });
});

describe('a cancel', () => {
  const CANCELLED = { turnId: turn(1), requestId: 'c', actor: actor('ann') };

  it('is refused by the field that has no form', () => {
    expect(refuseCancel(aMachine().machine, { turnId: 7 })).toMatchObject({
      code: 'invalid_request',
      message: expect.stringMatching(/^the cancel is invalid: .*turnId/) as string,
    });
  });

  it('stops what is there only, and a repeat names the same turn', () => {
    const m = aMachine();
    expect(cancelTurn(m.machine, {})).toEqual({ cancelled: false });
    m.send('one');
    expect(cancelTurn(m.machine, { turnId: turn(9) })).toEqual({ cancelled: false });
    expect(cancelTurn(m.machine, CANCELLED)).toMatchObject({ cancelled: true, turnId: turn(1) });
    expect(cancelTurn(m.machine, { requestId: 'c' })).toMatchObject({ turnId: turn(1) });
    expect(refuseCancel(m.machine, { ...CANCELLED, turnId: turn(2) })).toMatchObject({
      message: 'The cancel breaks a rule',
      problems: [{ path: '/requestId' }],
    });
    expect(m.all('cancel_requested')).toHaveLength(1);
  });
});

describe('a batch of results', () => {
  const made = () =>
    aMachineWith(
      modelCalls([
        plannedCall('a', { executor: 'client' }),
        plannedCall('b', { executor: 'client' }),
      ]),
    );
  const send = (m: MachineUnderTest, results: unknown, fields: object = {}) =>
    resolveBatch(m.machine, {
      ...{ stepId: stepIdFor(turn(1), 1), results, requestId: 'batch', actor: actor('ann') },
      ...fields,
    });
  const ok = (toolCallId: string, more: object = {}) => ({ toolCallId, resultJson: '1', ...more });
  const faultsOf = (verdict: ReturnType<typeof send>) =>
    'faults' in verdict ? verdict.faults.map(({ path, message }) => [path, message]) : [];

  it.each<[string, unknown, [string, string][]]>([
    [
      'one too few',
      [ok('a')],
      [['/results', 'must have 2 entries, for a, b in this order; got 1']],
    ],
    ['no list', 'x', [['/results', 'must have 2 entries, for a, b in this order; got 0']]],
    ['no objects', [7, ok('b')], [['/results/0', 'must be an object with "toolCallId"']]],
    [
      'another order',
      [ok('b'), ok('a')],
      [
        ['/results/0/toolCallId', 'must be "a": the results come in the calls\' order'],
        ['/results/1/toolCallId', 'must be "b": the results come in the calls\' order'],
      ],
    ],
    [
      'neither result',
      [{ toolCallId: 'a' }, ok('b')],
      [['/results/0', 'must have either resultJson or errorMessage']],
    ],
    [
      'both results',
      [ok('a', { errorMessage: 'x' }), ok('b')],
      [['/results/0', 'must have either resultJson or errorMessage']],
    ],
    [
      'no JSON',
      [{ toolCallId: 'a', resultJson: '{' }, ok('b')],
      [['/results/0/resultJson', 'must be a text that is JSON']],
    ],
    [
      'a message that is no text',
      [{ toolCallId: 'a', errorMessage: 7 }, ok('b')],
      [['/results/0/errorMessage', 'must be a string']],
    ],
    [
      'a field with a long name',
      [ok('a', { ['y'.repeat(200)]: 1 }), ok('b')],
      [[`/results/0/${'y'.repeat(MAX_ID_CHARS)}`, 'is not known here']],
    ],
    ...[-1, MAX_RUN_TIMEOUT_MS + 1, '3', Number.NaN].map(
      (executionMs): [string, unknown, [string, string][]] => [
        `a time of ${executionMs}`,
        [ok('a', { executionMs }), ok('b')],
        [['/results/0/executionMs', 'must be a number of milliseconds from 0']],
      ],
    ),
  ])('with %s is refused by the names of the fields', (_, results, faults) => {
    const m = made();
    const verdict = send(m, results);
    expect(verdict.verdict).toBe('invalid');
    expect(faultsOf(verdict)).toEqual(faults);
    expect(m.types()).toEqual([]);
  });

  it('takes times at their bounds', () => {
    const m = made();
    const times = [0, MAX_RUN_TIMEOUT_MS];
    expect(
      send(m, [ok('a', { executionMs: times[0] }), ok('b', { executionMs: times[1] })]),
    ).toMatchObject({ verdict: 'accepted' });
  });

  it('names at most twenty unknown fields of a result', () => {
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, nth) => [`f${nth}`, nth]));
    expect(faultsOf(send(made(), [ok('a', many), ok('b')]))).toHaveLength(20);
  });

  it('names what is wrong with its step and its request id', () => {
    const step = [['/stepId', 'must be a text such as "turn_abc_1.2"']];
    for (const stepId of [undefined, 7])
      expect(faultsOf(send(made(), [], { stepId }))).toEqual(step);
    expect(send(made(), [ok('a'), ok('b')], { stepId: 'x' })).toEqual({
      verdict: 'unknown',
      what: 'step',
    });
    expect(faultsOf(send(made(), [ok('a'), ok('b')], { requestId: 7 }))).toEqual([
      ['/requestId', 'requestId must be a non-empty string'],
    ]);
  });

  it('counts the bytes of results and of messages together', () => {
    const m = made();
    const half = MAX_BATCH_BYTES / 2;
    const sized = (bytes: number) => 'x'.repeat(bytes);
    expect(
      faultsOf(
        send(m, [
          { toolCallId: 'a', errorMessage: sized(half) },
          { toolCallId: 'b', errorMessage: sized(half + 1) },
        ]),
      )[0],
    ).toEqual([
      '/results',
      `must be at most ${MAX_BATCH_BYTES} bytes together, got ${MAX_BATCH_BYTES + 1}`,
    ]);
  });

  it('that is late, or whose call has a verdict already, says so for each result', () => {
    const m = made();
    m.resolve('a', { type: 'result', value: 1 }, { requestId: 'alone', actor: actor('ann') });
    expect(faultsOf(send(m, [ok('a'), ok('b')]))).toContainEqual([
      '/results/0',
      'already_resolved: the call is resolved',
    ]);
    m.clock.advance(3_600_000);
    expect(faultsOf(send(m, [ok('b')]))).toEqual([
      ['/results/0', 'came after the deadline of its call'],
    ]);
  });
});

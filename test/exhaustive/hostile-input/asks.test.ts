/**
 * Every answer to a question that code asks in mid-run, and every end of a run, in every state of such a question.
 */

import type { Resolution } from '../../../src/protocol/calls/resolutions.js';
import { toolFinished, toolLost } from '../../support/builders/call-ends.js';
import {
  ANSWER_MS,
  APPROVE,
  answer,
  gatedCall,
  modelCalls,
  plannedCall,
  result,
} from '../../support/builders/core-builders.js';
import { cancelTurn } from '../../support/builders/verbs.js';
import { promise } from '../../support/promise.js';
import { asks, CODE, NUMBER } from '../../support/schedules/core-asks.js';
import { aMachineWith, type MachineUnderTest } from '../../support/schedules/core-driver.js';
import { happening, stateTable, type TableInput } from '../../support/schedules/state-table.js';

const digest = (m: MachineUnderTest): string | undefined =>
  m.state.calls['c']?.suspension?.argsDigest;
type Fields = (m: MachineUnderTest) => Record<string, unknown>;
const resolving = (resolution: Resolution, fields: Fields = () => ({})): TableInput => ({
  enter: (m) => m.resolve('c', resolution, { requestId: 'new', ...fields(m) }).verdict,
  refused: 'stale',
});
const takesCode = (m: MachineUnderTest): boolean =>
  'pattern' in (m.state.calls['c']?.ask?.question.form ?? {});
/** The value that the form of the question takes: a code, or a number. */
const answering = (fields: Fields = () => ({})): TableInput =>
  resolving(answer(7), (m) => ({ resolution: answer(takesCode(m) ? 'ABC' : 7), ...fields(m) }));
/** The answer that was sent under the first request id, if there was one. */
const firstOf = (m: MachineUnderTest): { readonly resolution?: Resolution } => {
  const sent = m.all('resolution').find(({ requestId }) => requestId === 'first');
  return sent === undefined ? {} : { resolution: sent.resolution };
};
const naming: Fields = (m) => ({ argsDigest: digest(m) ?? 'ask:1:gone' });

const INPUTS = {
  answer: answering(),
  answerByName: answering(naming),
  answerToTheFirst: answering((m) => ({
    argsDigest: m.state.calls['c']?.ask?.earlier[0] ?? 'ask:1:other',
  })),
  answerToNothing: answering(() => ({ argsDigest: 'sha256:other' })),
  sameRequest: answering((m) => ({ requestId: 'first', ...firstOf(m) })),
  usedRequest: answering((m) => ({
    requestId: 'first',
    resolution: answer(takesCode(m) ? 'XYZ' : 8),
  })),
  wrongShape: resolving(answer({ seven: true }), naming),
  decline: resolving({ type: 'decline' }, naming),
  approve: resolving(APPROVE, naming),
  result: resolving(result(7), naming),
  outcome: resolving({ type: 'outcome', value: 7 }, naming),
  toolAsks: happening((m) => asks(m, 'c')),
  toolAsksNonsense: happening((m) => asks(m, 'c', { form: 'how many?' })),
  toolFinishes: happening((m) => m.tool('c')),
  toolRefuses: happening((m) =>
    toolFinished(m.machine, 'c', { refused: [{ path: '', message: 'no' }], executionMs: 1 }),
  ),
  toolLost: happening((m) => toolLost(m.machine, 'c', { timedOut: false, message: 'lost' })),
  checkPasses: happening((m) => m.checked('c', 'ABC')),
  checkFails: happening((m) => m.checkFails('c')),
  deadline: happening((m) => m.deadlinePassed('c')),
  cancel: {
    enter: (m) => (cancelTurn(m.machine, {}).cancelled ? 'cancelled' : 'nothing'),
    refused: 'cancelled: cancel_requested tool_result tool_result turn_ended',
  },
} satisfies Record<string, TableInput>;
type Input = keyof typeof INPUTS;

/** A second call keeps the step open. */
const running = (call = plannedCall('c')): MachineUnderTest =>
  aMachineWith(modelCalls([call, plannedCall('other')]));
const asked = (question: unknown = NUMBER, m = running()): MachineUnderTest => {
  asks(m, 'c', question);
  return m;
};
const answered = (m = asked(), value: number | string = 7): MachineUnderTest => {
  m.resolve('c', answer(value), { requestId: 'first', ...naming(m) });
  return m;
};
const declined = (m: MachineUnderTest): MachineUnderTest => {
  m.resolve('c', { type: 'decline' }, { requestId: 'first', ...naming(m) });
  return m;
};

type Cells = Readonly<Partial<Record<Input, string>>>;
const OPEN: Cells = {
  answer: 'accepted: resolution',
  answerByName: 'accepted: resolution',
  answerToTheFirst: 'invalid',
  answerToNothing: 'invalid',
  sameRequest: 'accepted: resolution',
  usedRequest: 'accepted: resolution',
  wrongShape: 'invalid',
  decline: 'accepted: resolution tool_result',
  deadline: '-: expired tool_result',
};
const EXPIRED: Cells = {
  answer: 'expired',
  answerByName: 'expired',
  answerToTheFirst: 'expired',
  answerToNothing: 'expired',
  sameRequest: 'expired',
  usedRequest: 'expired',
  wrongShape: 'expired',
  decline: 'expired',
  approve: 'expired',
  result: 'expired',
  outcome: 'expired',
  cancel: 'cancelled: cancel_requested tool_result turn_ended',
};

stateTable<Input>('a question that', promise('G129'), INPUTS, {
  'was not asked yet': {
    build: () => running(),
    cells: {
      toolAsks: '-: tool_asked suspension',
      toolAsksNonsense: '-: tool_result',
      toolFinishes: '-: tool_result',
      toolRefuses: '-: tool_result',
      toolLost: '-: tool_result',
    },
  },
  'is open': { build: () => asked(), cells: { ...OPEN } },
  'is open after an approval': {
    build: () => {
      const m = running(gatedCall('c'));
      m.resolve('c', APPROVE, { requestId: 'first' });
      return asked(NUMBER, m);
    },
    cells: { ...OPEN, sameRequest: 'duplicate', usedRequest: 'invalid' },
  },
  'was answered, and its tool runs again': {
    build: () => answered(),
    cells: {
      sameRequest: 'duplicate',
      usedRequest: 'invalid',
      toolAsks: '-: tool_asked suspension',
      toolAsksNonsense: '-: tool_result',
      toolFinishes: '-: tool_result',
      toolRefuses: '-: resolution_reverted suspension',
      toolLost: '-: tool_result',
    },
  },
  'is the second of its call': {
    build: () => asked(NUMBER, answered()),
    cells: {
      answer: 'invalid',
      answerByName: 'accepted: resolution',
      answerToNothing: 'invalid',
      sameRequest: 'duplicate',
      usedRequest: 'invalid',
      wrongShape: 'invalid',
      decline: 'accepted: resolution tool_result',
      deadline: '-: expired tool_result',
    },
  },
  'was answered, which a worker checks': {
    build: () => answered(asked(CODE), 'abc'),
    cells: {
      sameRequest: 'duplicate',
      usedRequest: 'invalid',
      checkPasses: '-: answer_checked',
      checkFails: '-: resolution_reverted suspension',
    },
  },
  'is open again after its answer was taken back': {
    build: () => answered(asked(CODE), 'abc').checkFails('c'),
    cells: { ...OPEN },
  },
  'was declined': {
    build: () => declined(asked()),
    cells: {
      sameRequest: 'duplicate',
      usedRequest: 'invalid',
      cancel: 'cancelled: cancel_requested tool_result turn_ended',
    },
  },
  'was declined, and its tool gets that': {
    build: () => declined(asked({ ...NUMBER, onDecline: 'enter' })),
    cells: {
      sameRequest: 'duplicate',
      usedRequest: 'invalid',
      toolAsks: '-: tool_asked suspension',
      toolAsksNonsense: '-: tool_result',
      toolFinishes: '-: tool_result',
      toolRefuses: '-: tool_result',
      toolLost: '-: tool_result',
    },
  },
  'got no answer': { build: () => asked().advance(ANSWER_MS), cells: { ...EXPIRED } },
  'is of a detached call': {
    build: () => asked(NUMBER, running(plannedCall('c', { mode: 'detach' }))),
    cells: {
      ...OPEN,
      decline: 'accepted: resolution inbox_event',
      deadline: '-: expired inbox_event',
      cancel: 'cancelled: cancel_requested tool_result turn_ended',
    },
  },
  'has led to a result': {
    build: () => answered().tool('c'),
    cells: {
      sameRequest: 'duplicate',
      usedRequest: 'invalid',
      cancel: 'cancelled: cancel_requested tool_result turn_ended',
    },
  },
});

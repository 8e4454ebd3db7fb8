/**
 * Every way to answer, extend, announce or end a wait, in every state of a wait: in time, late, at its edge, and
 * over.
 */

import type { Resolution } from '../../../src/protocol/calls/resolutions.js';
import {
  ANSWER_MS,
  APPROVE,
  actor,
  answer,
  gatedCall,
  MINUTE_MS,
  modelCalls,
  plannedCall,
  result,
} from '../../support/builders/core-builders.js';
import {
  cancelTurn,
  closeConversation,
  extendToolCall,
  resolveBySignal,
} from '../../support/builders/verbs.js';
import { promise } from '../../support/promise.js';
import { warning } from '../../support/schedules/core-claims.js';
import { aMachineWith, type MachineUnderTest } from '../../support/schedules/core-driver.js';
import { happening, stateTable, type TableInput } from '../../support/schedules/state-table.js';

const isHuman = (m: MachineUnderTest) => m.state.calls['c']?.plan.executor === 'human';
const fitting = (m: MachineUnderTest): Resolution => (isHuman(m) ? answer(7) : result(7));
/** Fits as well, and differs from the first answer. */
const otherThan = (m: MachineUnderTest): Resolution => (isHuman(m) ? answer(8) : result(8));
/** The answer that was sent under the first request id, if there was one. */
const firstOf = (m: MachineUnderTest): { readonly resolution?: Resolution } => {
  const sent = m.all('resolution').find(({ requestId }) => requestId === 'first');
  return sent === undefined ? {} : { resolution: sent.resolution };
};
const wait = (m: MachineUnderTest) => m.state.calls['c']?.suspension;
/** The deadline of the wait, also after its end. */
const deadlineOf = (m: MachineUnderTest): number =>
  Date.parse(
    wait(m)?.deadline ??
      m.state.calls['c']?.closedWait?.deadline ??
      m.all('expired').at(-1)?.deadline ??
      m.clock.iso(),
  );

const resolving = (fields: (m: MachineUnderTest) => Record<string, unknown>): TableInput => ({
  enter: (m) => m.resolve('c', fitting(m), { requestId: 'new', ...fields(m) }).verdict,
  refused: 'stale',
});
const signalling = (fields: (m: MachineUnderTest) => Record<string, unknown>): TableInput => ({
  enter: (m) => {
    const input = {
      toolCallId: 'c',
      resolution: fitting(m),
      requestId: 'new',
      actor: actor('ben'),
    };
    return resolveBySignal(m.machine, { ...input, ...fields(m) }).verdict;
  },
  refused: 'stale: resolution_refused',
});
const extending = (fields: (m: MachineUnderTest) => Record<string, unknown>): TableInput => ({
  enter: (m) =>
    extendToolCall(m.machine, {
      toolCallId: 'c',
      requestId: 'more',
      actor: actor('ben'),
      ...fields(m),
    }).verdict,
  refused: 'stale',
});

const INPUTS = {
  fits: resolving(() => ({})),
  sameRequest: resolving((m) => ({ requestId: 'first', ...firstOf(m) })),
  usedRequest: resolving((m) => ({ requestId: 'first', resolution: otherThan(m) })),
  outsider: resolving(() => ({ actor: actor('eve') })),
  otherKind: resolving(() => ({ resolution: APPROVE })),
  otherDigest: resolving(() => ({ argsDigest: 'sha256:other' })),
  wrongShape: resolving((m) => ({ resolution: { ...fitting(m), value: 'seven' } })),
  stampedInTime: resolving((m) => ({
    receivedAt: new Date(deadlineOf(m) - MINUTE_MS).toISOString(),
  })),
  stampedInFuture: resolving((m) => ({ receivedAt: m.clock.iso(90 * MINUTE_MS) })),
  signalFits: signalling(() => ({})),
  signalOutsider: signalling(() => ({ actor: actor('eve') })),
  extend: extending(() => ({ by: MINUTE_MS })),
  extendByOutsider: extending(() => ({ by: MINUTE_MS, actor: actor('eve') })),
  extendBackwards: extending((m) => ({ until: new Date(deadlineOf(m) - 1).toISOString() })),
  extendForEver: extending(() => ({ by: Number.MAX_SAFE_INTEGER })),
  extendToNothing: extending(() => ({})),
  timer: happening((m) => m.deadlinePassed('c', wait(m)?.deadline ?? m.clock.iso())),
  oldTimer: happening((m) => m.deadlinePassed('c', '2020-01-01T00:00:00.000Z')),
  warning: happening((m) => {
    m.machine.fired(warning('c', wait(m)?.deadline ?? m.clock.iso()));
  }),
  oldWarning: happening((m) => {
    m.machine.fired(warning('c', '2020-01-01T00:00:00.000Z'));
  }),
} satisfies Record<string, TableInput>;
type Input = keyof typeof INPUTS;

const BOUNDS = {
  answerSchema: { type: 'number' },
  answerAudience: { users: ['ben'] },
  warnBeforeMs: MINUTE_MS,
};
type Over = Parameters<typeof plannedCall>[1];
const human = (over: Over = {}) => plannedCall('c', { executor: 'human', ...BOUNDS, ...over });
const external = (over: Over = {}) =>
  plannedCall('c', { executor: 'external', lateResult: 'inbox', ...BOUNDS, ...over });
/** A second call keeps the step open. */
const open = (call = human()): MachineUnderTest =>
  aMachineWith(modelCalls([call, plannedCall('other')]));
const answered = (m: MachineUnderTest): MachineUnderTest => {
  m.resolve('c', fitting(m), { requestId: 'first' });
  return m;
};
/** Time passes, and no timer fires. */
const later = (m: MachineUnderTest, byMs: number): MachineUnderTest => {
  m.clock.advance(byMs);
  return m;
};

type Cells = Readonly<Partial<Record<Input, string>>>;
/** The cells of an open wait; other states list their differences. */
const OPEN: Cells = {
  fits: 'accepted: resolution tool_result',
  sameRequest: 'accepted: resolution tool_result',
  usedRequest: 'accepted: resolution tool_result',
  outsider: 'forbidden',
  otherDigest: 'invalid',
  wrongShape: 'invalid',
  stampedInTime: 'accepted: resolution tool_result',
  stampedInFuture: 'accepted: resolution tool_result',
  signalFits: 'accepted: resolution tool_result',
  signalOutsider: 'forbidden: resolution_refused',
  extend: 'accepted: extended',
  extendByOutsider: 'forbidden',
  extendBackwards: 'invalid',
  extendForEver: 'invalid',
  extendToNothing: 'invalid',
  timer: '-: expired tool_result',
  warning: '-: suspension_expiring',
};
const OUTSIDE: Cells = { outsider: 'forbidden', signalOutsider: 'forbidden: resolution_refused' };
const TOO_LATE_TO_EXTEND: Cells = {
  extend: 'expired',
  extendBackwards: 'expired',
  extendForEver: 'expired',
  extendToNothing: 'expired',
};

stateTable<Input>('a wait that', promise('G129'), INPUTS, {
  'is open': {
    build: () => open(),
    cells: { ...OPEN },
  },
  'was announced to end': {
    build: () => open().advance(ANSWER_MS - MINUTE_MS),
    cells: { ...OPEN, warning: '-' },
  },
  'was extended': {
    build: () => {
      const m = open();
      extendToolCall(m.machine, {
        toolCallId: 'c',
        by: MINUTE_MS,
        requestId: 'more',
        actor: actor('ben'),
      });
      return m;
    },
    cells: {
      ...OPEN,
      extend: 'duplicate',
      extendByOutsider: 'duplicate',
    },
  },
  'follows an approval': {
    build: () => {
      const m = open(gatedCall('c', { executor: 'client', ...BOUNDS }));
      m.resolve('c', APPROVE, { requestId: 'first' });
      return m;
    },
    cells: { ...OPEN, sameRequest: 'duplicate', usedRequest: 'invalid' },
  },
  'is at its deadline': {
    build: () => later(open(), ANSWER_MS),
    cells: { ...OPEN, ...TOO_LATE_TO_EXTEND, warning: '-: expired tool_result' },
  },
  'is over by less than the tolerance': {
    build: () => later(open(), ANSWER_MS + 900),
    cells: { ...OPEN, ...TOO_LATE_TO_EXTEND, warning: '-: expired tool_result' },
  },
  'is over, and its timer has not fired': {
    build: () => later(open(), ANSWER_MS + MINUTE_MS),
    cells: {
      ...OPEN,
      ...TOO_LATE_TO_EXTEND,
      warning: '-: expired tool_result',
      fits: 'expired',
      sameRequest: 'expired',
      usedRequest: 'expired',
      otherDigest: 'expired',
      wrongShape: 'expired',
      stampedInFuture: 'expired',
      signalFits: 'expired: expired tool_result resolution_refused',
    },
  },
  'is over, takes what comes late, and its timer has not fired': {
    build: () => later(open(external()), ANSWER_MS + MINUTE_MS),
    cells: {
      ...OPEN,
      ...TOO_LATE_TO_EXTEND,
      warning: '-: expired tool_result',
      fits: 'accepted_late: expired tool_result resolution inbox_event',
      sameRequest: 'accepted_late: expired tool_result resolution inbox_event',
      usedRequest: 'accepted_late: expired tool_result resolution inbox_event',
      stampedInFuture: 'accepted_late: expired tool_result resolution inbox_event',
      signalFits: 'accepted_late: expired tool_result resolution inbox_event',
    },
  },
  'has expired': {
    build: () => open().advance(ANSWER_MS + MINUTE_MS),
    cells: {
      ...OUTSIDE,
      ...TOO_LATE_TO_EXTEND,
      fits: 'expired',
      sameRequest: 'expired',
      usedRequest: 'expired',
      otherKind: 'expired',
      otherDigest: 'expired',
      wrongShape: 'expired',
      stampedInTime: 'expired',
      stampedInFuture: 'expired',
      signalFits: 'expired: resolution_refused',
      extendByOutsider: 'expired',
    },
  },
  'has expired, and takes what comes late': {
    build: () => open(external()).advance(ANSWER_MS + MINUTE_MS),
    cells: {
      ...OUTSIDE,
      ...TOO_LATE_TO_EXTEND,
      fits: 'accepted_late: resolution inbox_event',
      sameRequest: 'accepted_late: resolution inbox_event',
      usedRequest: 'accepted_late: resolution inbox_event',
      otherDigest: 'invalid',
      wrongShape: 'invalid',
      stampedInTime: 'accepted_late: resolution inbox_event',
      stampedInFuture: 'accepted_late: resolution inbox_event',
      signalFits: 'accepted_late: resolution inbox_event',
      extendByOutsider: 'expired',
    },
  },
  'has expired, and was answered late': {
    build: () => answered(open(external()).advance(ANSWER_MS + MINUTE_MS)),
    cells: { ...OUTSIDE, sameRequest: 'duplicate', usedRequest: 'invalid' },
  },
  'was answered, which is being checked': {
    build: () => answered(open(human({ recheckAnswer: true }))),
    cells: { ...OUTSIDE, sameRequest: 'duplicate', usedRequest: 'invalid' },
  },
  'is open again after its answer was taken back': {
    build: () => answered(open(human({ recheckAnswer: true }))).checkFails('c'),
    cells: {
      ...OPEN,
      fits: 'accepted: resolution',
      sameRequest: 'accepted: resolution',
      usedRequest: 'accepted: resolution',
      stampedInTime: 'accepted: resolution',
      stampedInFuture: 'accepted: resolution',
      signalFits: 'accepted: resolution',
    },
  },
  'was answered': {
    build: () => answered(open()),
    cells: { ...OUTSIDE, sameRequest: 'duplicate', usedRequest: 'invalid' },
  },
  'was stopped with its turn': {
    build: () => {
      const m = open();
      cancelTurn(m.machine, {});
      return m;
    },
    cells: {},
  },
  'was closed with its conversation': {
    build: () => {
      const m = open();
      closeConversation(m.machine);
      return m;
    },
    cells: {},
  },
});

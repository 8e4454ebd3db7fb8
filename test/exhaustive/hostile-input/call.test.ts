/** Every input that concerns a call, in every state of a call. */

import type { PlannedCall } from '../../../src/protocol/calls/plan.js';
import type { Resolution } from '../../../src/protocol/calls/resolutions.js';
import { SYSTEM_ACTOR } from '../../../src/protocol/values/actors.js';
import { stepIdFor } from '../../../src/protocol/values/ids.js';
import {
  callNotPlanned,
  callPlanned,
  editChecked,
  toolFinished,
  toolLost,
  toolPrepared,
  toolReconciled,
} from '../../support/builders/call-ends.js';
import {
  ANSWER_MS,
  APPROVAL_MS,
  APPROVE,
  answer,
  DENY,
  gatedCall,
  modelCalls,
  plannedCall,
  result,
  turn,
} from '../../support/builders/core-builders.js';
import { cancelTurn, closeConversation, resolveBatch } from '../../support/builders/verbs.js';
import { promise } from '../../support/promise.js';
import { aMachineWith, type MachineUnderTest } from '../../support/schedules/core-driver.js';
import { happening, stateTable, type TableInput } from '../../support/schedules/state-table.js';

const resolving = (resolution: Resolution): TableInput => ({
  enter: (m) => m.resolve('c', resolution, { requestId: 'again' }).verdict,
  refused: 'stale',
});
const done = { envelope: { ok: true, result: 'done' }, executionMs: 1 } as const;
const lost = { timedOut: false, message: 'the worker was lost' };

const INPUTS = {
  approve: resolving(APPROVE),
  deny: resolving(DENY),
  edit: resolving({ type: 'approve', input: { edited: true } }),
  answer: resolving(answer('yes')),
  decline: resolving({ type: 'decline' }),
  result: resolving(result('yes')),
  error: resolving({ type: 'error', message: 'no' }),
  outcome: resolving({ type: 'outcome', value: 1 }),
  batch: {
    enter: (m) => {
      const results = [{ toolCallId: 'c', resultJson: '1' }];
      const stepId = stepIdFor(turn(1), 1);
      return resolveBatch(m.machine, { stepId, results, requestId: 'batch' }).verdict;
    },
    refused: 'stale',
  },
  toolFinished: happening((m) => toolFinished(m.machine, 'c', done)),
  toolLost: happening((m) => toolLost(m.machine, 'c', lost)),
  toolPrepared: happening((m) =>
    toolPrepared(m.machine, 'c', { ok: true, payload: 1, argsDigest: 'sha256:shaped' }),
  ),
  toolReconciled: happening((m) => toolReconciled(m.machine, 'c', { outcome: 'not_happened' })),
  answerPassed: happening((m) => m.checked('c', 'checked')),
  answerFailed: happening((m) => m.checkFails('c')),
  editPassed: happening((m) => {
    const edited = { input: { edited: true }, argsDigest: 'sha256:edited' };
    const requestId = m.state.calls['c']?.edit?.requestId ?? '';
    editChecked(
      m.machine,
      { toolCallId: 'c', requestId },
      { ok: true, ...edited, approval: { needed: true } },
    );
  }),
  planned: happening((m) => callPlanned(m.machine, 'c', plannedCall('c'))),
  notPlanned: happening((m) => callNotPlanned(m.machine, 'c', lost)),
  deadline: happening((m) => m.deadlinePassed('c')),
  oldDeadline: happening((m) => m.deadlinePassed('c', '2020-01-01T00:00:00.000Z')),
} satisfies Record<string, TableInput>;
type Input = keyof typeof INPUTS;
type Cells = Readonly<Partial<Record<Input, string>>>;

/** A second call keeps the step open, so that the recorded events are about this one alone. */
const step = (call: PlannedCall, settings = {}): MachineUnderTest =>
  aMachineWith(modelCalls([call, plannedCall('other')]), { settings });
const calling = (over: Parameters<typeof plannedCall>[1] = {}) => step(plannedCall('c', over));
const gating = (over: Parameters<typeof plannedCall>[1] = {}) => step(gatedCall('c', over));
const after = (m: MachineUnderTest, ...resolutions: Resolution[]): MachineUnderTest => {
  for (const [index, resolution] of resolutions.entries())
    m.resolve('c', resolution, { requestId: `before-${index}` });
  return m;
};
const UNKNOWN: Cells = Object.fromEntries(
  ['approve', 'deny', 'edit', 'answer', 'decline', 'result', 'error', 'outcome'].map((input) => [
    input,
    'unknown',
  ]),
);

stateTable<Input>('a call that', promise('G129', 'A27'), INPUTS, {
  'was never made': {
    build: () => aMachineWith(modelCalls([plannedCall('other')])),
    cells: UNKNOWN,
  },
  'waits for its turn': {
    build: () =>
      step(
        { ...plannedCall('c'), unplanned: { argumentsJson: '{}' } },
        { toolExecution: 'sequential' },
      ),
    cells: { planned: '-: call_planned', notPlanned: '-: tool_result' },
  },
  'is being shaped': {
    build: () => calling({ executor: 'client', preflight: true }),
    cells: { batch: 'not_ready', toolPrepared: '-: call_prepared suspension' },
  },
  runs: {
    build: () => calling(),
    cells: { toolFinished: '-: tool_result', toolLost: '-: tool_result' },
  },
  'runs after its approval': {
    build: () => after(gating(), APPROVE),
    cells: { toolFinished: '-: tool_result', toolLost: '-: tool_result' },
  },
  'waits for an approval': {
    build: () => gating(),
    cells: {
      approve: 'accepted: resolution',
      deny: 'accepted: resolution tool_result',
      edit: 'accepted: resolution',
      deadline: '-: expired tool_result',
    },
  },
  'has an edit that is being checked': {
    build: () => after(gating(), { type: 'approve', input: { edited: true } }),
    cells: { editPassed: '-: input_edited' },
  },
  'waits for a person': {
    build: () => calling({ executor: 'human' }),
    cells: {
      answer: 'accepted: resolution tool_result',
      decline: 'accepted: resolution tool_result',
      deadline: '-: expired tool_result',
    },
  },
  'has an answer that is being checked': {
    build: () => after(calling({ executor: 'human', recheckAnswer: true }), answer('yes')),
    cells: { answerPassed: '-: tool_result', answerFailed: '-: resolution_reverted suspension' },
  },
  'waits for a client': {
    build: () => calling({ executor: 'client' }),
    cells: {
      batch: 'accepted: resolution tool_result',
      result: 'accepted: resolution tool_result',
      error: 'accepted: resolution tool_result',
      deadline: '-: expired tool_result',
    },
  },
  'waits for a client after its approval': {
    build: () => after(gating({ executor: 'client' }), APPROVE),
    cells: {
      batch: 'accepted: resolution tool_result',
      result: 'accepted: resolution tool_result',
      error: 'accepted: resolution tool_result',
      deadline: '-: expired tool_result',
    },
  },
  'waits for another backend': {
    build: () => calling({ executor: 'external' }),
    cells: {
      result: 'accepted: resolution tool_result',
      error: 'accepted: resolution tool_result',
      deadline: '-: expired tool_result',
    },
  },
  'is asked what its lost run did': {
    build: () => {
      const m = calling({ effects: 'once', reconcile: true });
      toolLost(m.machine, 'c', lost);
      return m;
    },
    cells: { toolReconciled: '-: tool_reconciled' },
  },
  'has an unknown outcome that is held': {
    build: () => {
      const m = calling({ effects: 'once', onOutcomeUnknown: 'hold' });
      toolLost(m.machine, 'c', lost);
      return m;
    },
    cells: { outcome: 'accepted: resolution tool_result', deadline: '-: expired tool_result' },
  },
  'is detached and waits': {
    build: () => calling({ executor: 'external', mode: 'detach', lateResult: 'inbox' }),
    cells: {
      result: 'accepted: resolution inbox_event',
      error: 'accepted: resolution inbox_event',
      deadline: '-: expired inbox_event',
    },
  },
  'is detached and runs': {
    build: () => calling({ mode: 'detach' }),
    cells: { toolFinished: '-: inbox_event', toolLost: '-: inbox_event' },
  },
  'has expired, and takes what comes late': {
    build: () => calling({ executor: 'external', lateResult: 'inbox' }).advance(ANSWER_MS),
    cells: {
      result: 'accepted_late: resolution inbox_event',
      error: 'accepted_late: resolution inbox_event',
    },
  },
  'was answered late': {
    build: () =>
      after(
        calling({ executor: 'external', lateResult: 'inbox' }).advance(ANSWER_MS),
        result('late'),
      ),
    cells: {},
  },
  'has expired': {
    build: () => gating().advance(APPROVAL_MS),
    cells: {
      approve: 'expired',
      deny: 'expired',
      edit: 'expired',
      answer: 'expired',
      decline: 'expired',
      result: 'expired',
      error: 'expired',
      outcome: 'expired',
    },
  },
  'has its result': { build: () => calling().tool('c'), cells: {} },
  'was answered': { build: () => after(calling({ executor: 'human' }), answer('yes')), cells: {} },
  'was denied': { build: () => after(gating(), DENY), cells: {} },
  'could not run': {
    build: () =>
      step({ ...plannedCall('c'), error: { code: 'invalid_json', message: 'not JSON' } }),
    cells: {},
  },
  'was cancelled': {
    build: () => {
      const m = calling({ executor: 'human' });
      cancelTurn(m.machine, { actor: SYSTEM_ACTOR });
      return m;
    },
    cells: {},
  },
  'is of a closed conversation': {
    build: () => {
      const m = calling({ executor: 'human' });
      closeConversation(m.machine);
      return m;
    },
    cells: {},
  },
});

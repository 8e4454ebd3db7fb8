/**
 * Workers' reports on the definition of a tool, and their new offers after a deploy, in every state of a call: due,
 * late, repeated, and malformed.
 */

import type { PlannedCall } from '../../../src/protocol/calls/plan.js';
import { MAX_OFFER_BYTES } from '../../../src/protocol/limits/limits.js';
import type { RunToolResult } from '../../../src/protocol/workflow/activities.js';
import {
  definitionChecked,
  definitionNotChecked,
  toolFinished,
} from '../../support/builders/call-ends.js';
import {
  ANSWER_MS,
  APPROVE,
  actor,
  answer,
  gatedCall,
  MINUTE_MS,
  modelCalls,
  plannedCall,
} from '../../support/builders/core-builders.js';
import {
  cancelTurn,
  changeSuspension,
  claimToolCall,
  closeConversation,
} from '../../support/builders/verbs.js';
import { asks } from '../../support/schedules/core-asks.js';
import { aMachineWith, type MachineUnderTest } from '../../support/schedules/core-driver.js';
import { happening, stateTable, type TableInput } from '../../support/schedules/state-table.js';

const OFFER = { definition: 'sha256:new answer', answerSchema: { type: 'string' } };
const offering = (fields: object): TableInput => ({
  enter: (m) => {
    const reply = changeSuspension(m.machine, { toolCallId: 'c', offer: OFFER, ...fields });
    return 'verdict' in reply ? reply.verdict : 'changed';
  },
  refused: 'stale',
});
const ending = (outcome: object): TableInput =>
  happening((m) => toolFinished(m.machine, 'c', outcome as RunToolResult));
const lost = { timedOut: false, message: 'the worker was lost' };

const INPUTS = {
  offered: offering({}),
  offeredAsItIs: offering({ offer: { definition: 'sha256:answer' } }),
  offeredNothing: offering({ offer: undefined }),
  offeredWithoutName: offering({ offer: { ...OFFER, definition: '' } }),
  offeredBySchemaThatIsNone: offering({ offer: { ...OFFER, answerSchema: { $ref: '#/nowhere' } } }),
  offeredTooLarge: offering({
    offer: { ...OFFER, answerSchema: { description: 'x'.repeat(MAX_OFFER_BYTES) } },
  }),
  offeredByDefaultWithoutValue: offering({ offer: { ...OFFER, onExpireDefault: {} } }),
  offeredOfGarbage: { ...offering({ toolCallId: { toString: 'c' } }), refused: 'unknown' },
  same: happening((m) => definitionChecked(m.machine, 'c', { outcome: 'same' })),
  migrated: happening((m) =>
    definitionChecked(m.machine, 'c', {
      outcome: 'migrated',
      definition: 'sha256:new',
      call: {
        input: { carried: 'over' },
        argsDigest: 'sha256:carried',
        definition: 'sha256:new',
        approval: { needed: false },
      },
    }),
  ),
  ended: happening((m) =>
    definitionChecked(m.machine, 'c', {
      outcome: 'ended',
      definition: 'sha256:new',
      error: { code: 'definition_changed', message: 'it was changed' },
    }),
  ),
  notChecked: happening((m) => definitionNotChecked(m.machine, 'c', lost)),
  changed: ending({ changed: { definition: 'sha256:new' } }),
  changedToGarbage: ending({ changed: { definition: 7 } }),
} satisfies Record<string, TableInput>;
type Input = keyof typeof INPUTS;
type Cells = Readonly<Partial<Record<Input, string>>>;

/** The call has no state left that could be offered. */
const GONE: Cells = Object.fromEntries(
  Object.keys(INPUTS)
    .filter((input) => input.startsWith('offered'))
    .map((input) => [input, 'unknown']),
);
const PINS = { definition: 'sha256:old' };
const ANSWERED = { ...PINS, answerDefinition: 'sha256:answer', answerSchema: { type: 'number' } };
type Over = Parameters<typeof plannedCall>[1];
/** A second call keeps the step open. */
const step = (call: PlannedCall): MachineUnderTest =>
  aMachineWith(modelCalls([call, plannedCall('other')]));
const calling = (over: Over = {}) => step(plannedCall('c', { ...PINS, ...over }));
const gating = (over: Over = {}) => step(gatedCall('c', { ...PINS, ...over }));
const after = (m: MachineUnderTest, change: (m: MachineUnderTest) => unknown): MachineUnderTest => {
  change(m);
  return m;
};
const approved = (m: MachineUnderTest) => after(m, () => m.resolve('c', APPROVE));
const foundChanged = (m: MachineUnderTest) =>
  after(m, () => toolFinished(m.machine, 'c', { changed: { definition: 'sha256:new' } }));
const asked = (m: MachineUnderTest) => after(m, () => asks(m, 'c'));

const FAULTY: Cells = { changedToGarbage: '-: tool_result' };
const RUNS: Cells = { changed: '-: definition_changed', ...FAULTY };
/** A worker is asked to plan the call. */
const CHECKED: Cells = {
  migrated: '-: definition_changed input_migrated suspension',
  ended: '-: definition_changed tool_result',
  notChecked: '-: tool_result',
};
/** The same, where a worker has reported already that the tool has changed. */
const KNOWN: Cells = {
  same: '-: tool_result',
  ended: '-: tool_result',
  notChecked: '-: tool_result',
};
const OFFERED: Cells = {
  offered: 'changed: suspension_changed',
  offeredNothing: 'invalid',
  offeredWithoutName: 'invalid',
  offeredBySchemaThatIsNone: 'invalid',
  offeredTooLarge: 'invalid',
  offeredByDefaultWithoutValue: 'invalid',
};

stateTable<Input>('a call that', {}, INPUTS, {
  'was never made': {
    build: () => aMachineWith(modelCalls([plannedCall('other')])),
    cells: GONE,
  },
  'waits for its turn': {
    build: () =>
      aMachineWith(
        modelCalls([
          { ...plannedCall('c'), unplanned: { argumentsJson: '{}' } },
          plannedCall('other'),
        ]),
        { settings: { toolExecution: 'sequential' } },
      ),
    cells: {},
  },
  'runs for the first time': { build: () => calling(), cells: RUNS },
  'runs, and pins nothing': {
    build: () => step(plannedCall('c')),
    cells: { changed: '-: tool_result', ...FAULTY },
  },
  'runs after its approval': { build: () => approved(gating()), cells: RUNS },
  'was found changed by the worker that should run it': {
    build: () => foundChanged(calling()),
    cells: { ...KNOWN, migrated: '-: input_migrated' },
  },
  'was approved, and found changed': {
    build: () => foundChanged(approved(gating())),
    cells: { ...KNOWN, migrated: '-: input_migrated suspension' },
  },
  'was carried over': {
    build: () => after(foundChanged(calling()), (m) => INPUTS.migrated.enter(m)),
    cells: RUNS,
  },
  'waits for an approval': { build: () => gating(), cells: {} },
  'was approved for a client, and is being looked at': {
    build: () => approved(gating({ executor: 'client', ...ANSWERED })),
    cells: { ...CHECKED, same: '-: suspension' },
  },
  'was approved as arguments, and is being looked at': {
    build: () => approved(gating({ executor: 'internal' })),
    cells: { ...CHECKED, same: '-: tool_result' },
  },
  'waits for a person': {
    build: () => calling({ executor: 'human', ...ANSWERED }),
    cells: OFFERED,
  },
  'waits for a client': {
    build: () => calling({ executor: 'client', ...ANSWERED }),
    cells: OFFERED,
  },
  'waits for a person, and pins nothing': {
    build: () => step(plannedCall('c', { executor: 'human' })),
    cells: {},
  },
  'is held by a client': {
    build: () =>
      after(calling({ executor: 'client', ...ANSWERED }), (m) =>
        claimToolCall(m.machine, { toolCallId: 'c', requestId: 'mine', actor: actor('ann') }),
      ),
    cells: {},
  },
  'was offered anew': {
    build: () => after(calling({ executor: 'human', ...ANSWERED }), (m) => INPUTS.offered.enter(m)),
    cells: {
      ...OFFERED,
      offered: 'stale',
      offeredAsItIs: 'changed: suspension_changed',
    },
  },
  'is over, and its timer has not fired': {
    build: () =>
      after(calling({ executor: 'human', ...ANSWERED }), (m) =>
        m.clock.advance(ANSWER_MS + MINUTE_MS),
      ),
    cells: OFFERED,
  },
  'has an answer that is being checked': {
    build: () =>
      after(calling({ executor: 'human', ...ANSWERED, recheckAnswer: true }), (m) =>
        m.resolve('c', answer(7)),
      ),
    cells: {},
  },
  'asks in the middle of its run': { build: () => asked(calling()), cells: {} },
  'runs again after its question': {
    build: () => after(asked(calling()), (m) => m.resolve('c', answer(7))),
    cells: { changed: '-: tool_result', ...FAULTY },
  },
  'has ended': {
    build: () => calling().tool('c'),
    cells: {},
  },
  'was stopped with its turn': {
    build: () =>
      after(calling({ executor: 'human', ...ANSWERED }), (m) => cancelTurn(m.machine, {})),
    cells: GONE,
  },
  'was closed with its conversation': {
    build: () =>
      after(calling({ executor: 'human', ...ANSWERED }), (m) => closeConversation(m.machine)),
    cells: GONE,
  },
});

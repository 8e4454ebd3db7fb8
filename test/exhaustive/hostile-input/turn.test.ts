/** Every input that may start, steer, stop or end a turn, in every phase of a turn. */

import {
  APPROVE,
  answer,
  brokenCall,
  gatedCall,
  modelCalls,
  modelSays,
  plannedCall,
  turn,
} from '../../support/builders/core-builders.js';
import {
  cancelBySignal,
  cancelTurn,
  closeConversation,
  refuseCancel,
} from '../../support/builders/verbs.js';
import { promise } from '../../support/promise.js';
import {
  aMachine,
  aMachineWith,
  type MachineUnderTest,
} from '../../support/schedules/core-driver.js';
import { happening, stateTable, type TableInput } from '../../support/schedules/state-table.js';

const sending = (onBusy: string): TableInput => ({
  enter: (m) => {
    const outcome = m.trySend('more', { requestId: 'more', onBusy });
    return outcome.accepted ? 'accepted' : outcome.refusal.code;
  },
  refused: 'busy',
});
const cancelling = (input: unknown): TableInput => ({
  enter: (m) => (cancelTurn(m.machine, input).cancelled ? 'cancelled' : 'nothing'),
  refused: 'nothing',
});
/** The id of the model call in progress, or of the last one. */
const at = (m: MachineUnderTest) => m.state.turn ?? { turnId: turn(1), step: 1 };
const down = { code: 'model_unavailable', message: 'down' } as const;

const INPUTS = {
  message: sending('reject'),
  queued: sending('queue'),
  interrupting: sending('interrupt'),
  steering: sending('steer'),
  cancel: cancelling({}),
  cancelByName: cancelling({ turnId: turn(1) }),
  cancelOfNobody: cancelling({ turnId: 'turn_other_1' }),
  cancelOfGarbage: {
    enter: (m) => refuseCancel(m.machine, { turnId: 7 })?.code ?? 'accepted',
    refused: 'invalid_request',
  },
  cancelOfGarbageBySignal: {
    enter: (m) => ('code' in cancelBySignal(m.machine, 7) ? 'refused' : 'accepted'),
    refused: 'refused: message_refused',
  },
  modelSpeaks: happening((m) => m.modelCompleted(at(m), modelSays('done'))),
  modelCalls: happening((m) =>
    m.modelCompleted(at(m), modelCalls([plannedCall('n'), gatedCall('g')])),
  ),
  modelOfOtherStep: happening((m) => m.modelCompleted({ ...at(m), step: 99 }, modelSays('x'))),
  modelOfOtherTurn: happening((m) =>
    m.modelCompleted({ turnId: 'turn_other_1', step: 1 }, modelSays('x')),
  ),
  modelFails: happening((m) => m.modelFailed(at(m), down)),
  modelAborted: happening((m) => m.modelAborted(at(m))),
  timeIsOver: happening((m) => m.turnTimePassed(at(m).turnId)),
  timeOfOtherTurn: happening((m) => m.turnTimePassed('turn_other_1')),
  close: {
    enter: (m) => {
      closeConversation(m.machine);
      return 'closed';
    },
    refused: 'closed',
  },
} satisfies Record<string, TableInput>;
type Input = keyof typeof INPUTS;

const speaking = (settings = {}): MachineUnderTest => {
  const m = aMachine({ settings });
  m.send('hello');
  return m;
};
const step = (settings = {}): MachineUnderTest =>
  aMachineWith(
    modelCalls([plannedCall('s'), gatedCall('a'), plannedCall('q', { executor: 'human' })]),
    { settings },
  );
const stopped = (m: MachineUnderTest): MachineUnderTest => {
  cancelTurn(m.machine, {});
  return m;
};

type Cells = Readonly<Partial<Record<Input, string>>>;
const IDLE: Cells = {
  message: 'accepted: user_message turn_started',
  queued: 'accepted: user_message turn_started',
  interrupting: 'accepted: user_message turn_started',
  steering: 'accepted: user_message turn_started',
  close: 'closed: conversation_closed',
};
const SPEAKING: Cells = {
  queued: 'accepted: user_message',
  interrupting: 'accepted: user_message cancel_requested',
  steering: 'accepted: user_message',
  cancel: 'cancelled: cancel_requested',
  cancelByName: 'cancelled: cancel_requested',
  modelSpeaks: '-: model_call assistant_message turn_ended',
  modelCalls: '-: model_call assistant_message tool_call tool_call suspension',
  modelFails: '-: turn_ended',
  modelAborted: '-: turn_ended',
  timeIsOver: '-: turn_limit_reached',
  close: 'closed: turn_ended conversation_closed',
};

stateTable<Input>('a turn that', promise('G129', 'S41'), INPUTS, {
  'never began': { build: () => aMachine(), cells: { ...IDLE } },
  'waits for the model': { build: () => speaking(), cells: { ...SPEAKING } },
  'waits for the model, with a steering message': {
    build: () => {
      const m = speaking();
      m.trySend('and', { onBusy: 'steer' });
      return m;
    },
    cells: { ...SPEAKING, modelSpeaks: '-: model_call assistant_message' },
  },
  'waits for the model, with another turn behind it': {
    build: () => {
      const m = speaking();
      m.trySend('next', { onBusy: 'queue' });
      return m;
    },
    cells: {
      ...SPEAKING,
      modelSpeaks: '-: model_call assistant_message turn_ended turn_started',
      modelFails: '-: turn_ended turn_started',
      modelAborted: '-: turn_ended turn_started',
      close: 'closed: turn_ended turn_ended conversation_closed',
    },
  },
  'is being stopped while the model speaks': {
    build: () => stopped(speaking()),
    cells: {
      ...SPEAKING,
      interrupting: 'accepted: user_message',
      cancel: 'cancelled',
      cancelByName: 'cancelled',
      modelCalls: '-: model_call turn_ended',
      timeIsOver: '-',
    },
  },
  'has used up its time while the model speaks': {
    build: () => {
      const m = speaking({ budgets: { timeMs: 1 } });
      m.turnTimePassed(turn(1));
      return m;
    },
    cells: {
      queued: 'accepted: user_message',
      interrupting: 'accepted: user_message cancel_requested',
      steering: 'accepted: user_message',
      cancel: 'cancelled: cancel_requested',
      cancelByName: 'cancelled: cancel_requested',
      modelSpeaks: '-: model_call assistant_message assistant_message turn_ended',
      modelCalls: '-: model_call assistant_message turn_ended',
      modelFails: '-: assistant_message turn_ended',
      modelAborted: '-: assistant_message turn_ended',
      close: 'closed: turn_ended conversation_closed',
    },
  },
  'has calls that run and wait': {
    build: () => step(),
    cells: {
      queued: 'accepted: user_message',
      interrupting:
        'accepted: user_message cancel_requested tool_result tool_result tool_result turn_ended turn_started',
      steering: 'accepted: user_message',
      cancel: 'cancelled: cancel_requested tool_result tool_result tool_result turn_ended',
      cancelByName: 'cancelled: cancel_requested tool_result tool_result tool_result turn_ended',
      timeIsOver:
        '-: turn_limit_reached tool_result tool_result tool_result assistant_message turn_ended',
      close: 'closed: tool_result tool_result tool_result turn_ended conversation_closed',
    },
  },
  'has calls that wait only': {
    build: () => step().tool('s'),
    cells: {
      queued: 'accepted: user_message',
      interrupting:
        'accepted: user_message cancel_requested tool_result tool_result turn_ended turn_started',
      steering: 'accepted: user_message',
      cancel: 'cancelled: cancel_requested tool_result tool_result turn_ended',
      cancelByName: 'cancelled: cancel_requested tool_result tool_result turn_ended',
      timeIsOver: '-: turn_limit_reached tool_result tool_result assistant_message turn_ended',
      close: 'closed: tool_result tool_result turn_ended conversation_closed',
    },
  },
  'waits for the model again': {
    build: () => {
      const m = step().tool('s');
      m.resolve('a', APPROVE);
      m.tool('a');
      m.resolve('q', answer('yes'));
      return m;
    },
    cells: { ...SPEAKING },
  },
  'waits for the model in its last step': {
    build: () => {
      const m = speaking({ maxSteps: 2 });
      return m.model(modelCalls([brokenCall('b')]));
    },
    cells: { ...SPEAKING },
  },
  'has completed': { build: () => speaking().model(modelSays('done')), cells: { ...IDLE } },
  'has failed': { build: () => speaking().modelFails(), cells: { ...IDLE } },
  'was stopped': { build: () => stopped(step()), cells: { ...IDLE } },
  'ended with its conversation': {
    build: () => {
      const m = step();
      closeConversation(m.machine);
      return m;
    },
    cells: {
      message: 'conversation_closed',
      queued: 'conversation_closed',
      interrupting: 'conversation_closed',
      steering: 'conversation_closed',
      cancelOfGarbageBySignal: 'refused',
    },
  },
});

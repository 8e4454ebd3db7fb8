/** Every way to send a message and to cancel one, with every length of the queue of messages. */

import type { OnBusy } from '../../../src/protocol/conversation/agents.js';
import { MAX_MESSAGE_BYTES, MAX_QUEUED_MESSAGES } from '../../../src/protocol/limits/limits.js';
import { modelSays, turn } from '../../support/builders/core-builders.js';
import {
  cancelTurn,
  closeConversation,
  sendMessageBySignal,
} from '../../support/builders/verbs.js';
import { promise } from '../../support/promise.js';
import { aMachine, type MachineUnderTest } from '../../support/schedules/core-driver.js';
import { stateTable, type TableInput } from '../../support/schedules/state-table.js';

const sending = (fields: Record<string, unknown>): TableInput => ({
  enter: (m) => {
    const outcome = m.trySend('more', { requestId: 'more', ...fields });
    return outcome.accepted ? 'accepted' : outcome.refusal.code;
  },
  refused: 'invalid_request',
});
const signalling = (input: unknown): TableInput => ({
  enter: (m) => {
    sendMessageBySignal(m.machine, input);
    return undefined;
  },
  refused: '-',
});
/** A turn by its place behind the first. */
const cancelling = (ordinal: number): TableInput => ({
  enter: (m) =>
    cancelTurn(m.machine, { turnId: turn(ordinal) }).cancelled ? 'cancelled' : 'nothing',
  refused: 'nothing',
});

const INPUTS = {
  reject: sending({ onBusy: 'reject' }),
  queue: sending({ onBusy: 'queue' }),
  interrupt: sending({ onBusy: 'interrupt' }),
  steer: sending({ onBusy: 'steer' }),
  asTheAgentSays: sending({}),
  sameRequest: sending({ text: 'hello', requestId: 'first', onBusy: 'queue' }),
  usedRequest: sending({ requestId: 'first', onBusy: 'queue' }),
  largest: sending({ text: 'x'.repeat(MAX_MESSAGE_BYTES), onBusy: 'queue' }),
  tooLarge: sending({ text: 'x'.repeat(MAX_MESSAGE_BYTES + 1), onBusy: 'queue' }),
  blank: sending({ text: ' \n', onBusy: 'queue' }),
  noText: sending({ text: { type: 'text' }, onBusy: 'queue' }),
  otherAgent: sending({ agent: 'sales', onBusy: 'queue' }),
  unknownWay: sending({ onBusy: 'barge in' }),
  signal: signalling({ text: 'more', requestId: 'more', onBusy: 'queue' }),
  signalOfSameRequest: signalling({ text: 'hello', requestId: 'first', onBusy: 'queue' }),
  signalOfUsedRequest: signalling({ text: 'more', requestId: 'first', onBusy: 'queue' }),
  signalOfGarbage: signalling(['more']),
  cancelRunning: cancelling(1),
  cancelNext: cancelling(2),
  cancelAfterNext: cancelling(3),
} satisfies Record<string, TableInput>;
type Input = keyof typeof INPUTS;

const idle = (): MachineUnderTest => aMachine();
const running = (): MachineUnderTest => {
  const m = aMachine();
  m.send('hello', { requestId: 'first' });
  return m;
};
const behind = (count: number, onBusy: OnBusy = 'queue', text = 'x') => {
  const m = running();
  for (let index = 0; index < count; index += 1) m.trySend(text, { onBusy });
  return m;
};

type Cells = Readonly<Partial<Record<Input, string>>>;
const IDLE: Cells = {
  reject: 'accepted: user_message turn_started',
  queue: 'accepted: user_message turn_started',
  interrupt: 'accepted: user_message turn_started',
  steer: 'accepted: user_message turn_started',
  asTheAgentSays: 'accepted: user_message turn_started',
  sameRequest: 'accepted: user_message turn_started',
  usedRequest: 'accepted: user_message turn_started',
  largest: 'accepted: user_message turn_started',
  otherAgent: 'agent_mismatch',
  signal: '-: user_message turn_started',
  signalOfSameRequest: '-: user_message turn_started',
  signalOfUsedRequest: '-: user_message turn_started',
  signalOfGarbage: '-: message_refused',
};
const BUSY: Cells = {
  reject: 'busy',
  queue: 'accepted: user_message',
  interrupt: 'accepted: user_message cancel_requested',
  steer: 'accepted: user_message',
  asTheAgentSays: 'busy',
  sameRequest: 'duplicate',
  largest: 'accepted: user_message',
  otherAgent: 'agent_mismatch',
  signal: '-: user_message',
  signalOfUsedRequest: '-: message_refused',
  signalOfGarbage: '-: message_refused',
  cancelRunning: 'cancelled: cancel_requested',
};
const FULL: Cells = {
  reject: 'busy',
  queue: 'queue_full',
  interrupt: 'queue_full',
  steer: 'queue_full',
  asTheAgentSays: 'busy',
  sameRequest: 'duplicate',
  largest: 'queue_full',
  otherAgent: 'agent_mismatch',
  signal: '-: message_refused',
  signalOfUsedRequest: '-: message_refused',
  signalOfGarbage: '-: message_refused',
  cancelRunning: 'cancelled: cancel_requested',
};

stateTable<Input>('a queue that', promise('G129'), INPUTS, {
  'is of an idle conversation': { build: idle, cells: { ...IDLE } },
  'is empty behind a turn': { build: () => running(), cells: { ...BUSY } },
  'holds one message': {
    build: () => behind(1),
    cells: { ...BUSY, cancelNext: 'cancelled: cancel_requested turn_ended' },
  },
  'holds one message that steers': { build: () => behind(1, 'steer'), cells: { ...BUSY } },
  'holds one message that interrupted': {
    build: () => behind(1, 'interrupt'),
    cells: {
      ...BUSY,
      interrupt: 'accepted: user_message',
      cancelRunning: 'cancelled',
      cancelNext: 'cancelled: cancel_requested turn_ended',
    },
  },
  'holds all but one': {
    build: () => behind(MAX_QUEUED_MESSAGES - 1),
    cells: {
      ...BUSY,
      cancelNext: 'cancelled: cancel_requested turn_ended',
      cancelAfterNext: 'cancelled: cancel_requested turn_ended',
    },
  },
  'is full': {
    build: () => behind(MAX_QUEUED_MESSAGES),
    cells: {
      ...FULL,
      cancelNext: 'cancelled: cancel_requested turn_ended',
      cancelAfterNext: 'cancelled: cancel_requested turn_ended',
    },
  },
  'is full of messages that steer': {
    build: () => behind(MAX_QUEUED_MESSAGES, 'steer'),
    cells: { ...FULL },
  },
  'is full of bytes': {
    build: () => behind(2, 'queue', 'x'.repeat(MAX_MESSAGE_BYTES)),
    cells: {
      ...FULL,
      cancelNext: 'cancelled: cancel_requested turn_ended',
      cancelAfterNext: 'cancelled: cancel_requested turn_ended',
    },
  },
  'has been emptied': {
    build: () => {
      const m = behind(1);
      return m.model(modelSays('one')).model(modelSays('two'));
    },
    cells: {
      reject: 'accepted: user_message turn_started',
      queue: 'accepted: user_message turn_started',
      interrupt: 'accepted: user_message turn_started',
      steer: 'accepted: user_message turn_started',
      asTheAgentSays: 'accepted: user_message turn_started',
      sameRequest: 'duplicate',
      largest: 'accepted: user_message turn_started',
      otherAgent: 'agent_mismatch',
      signal: '-: user_message turn_started',
      signalOfUsedRequest: '-: message_refused',
      signalOfGarbage: '-: message_refused',
    },
  },
  'was closed': {
    build: () => {
      const m = behind(1);
      closeConversation(m.machine);
      return m;
    },
    cells: {
      reject: 'conversation_closed',
      queue: 'conversation_closed',
      interrupt: 'conversation_closed',
      steer: 'conversation_closed',
      asTheAgentSays: 'conversation_closed',
      sameRequest: 'duplicate',
      largest: 'conversation_closed',
      otherAgent: 'conversation_closed',
    },
  },
});

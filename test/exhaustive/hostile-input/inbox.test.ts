/**
 * Every event that other systems may send, with every length of the inbox and in every phase of its conversation.
 */

import { MAX_INBOX_EVENTS, MAX_MESSAGE_BYTES } from '../../../src/protocol/limits/limits.js';
import {
  ANSWER_MS,
  actor,
  modelCalls,
  modelSays,
  plannedCall,
  result,
} from '../../support/builders/core-builders.js';
import {
  closeConversation,
  takeInboxEvent,
  takeInboxSignal,
} from '../../support/builders/verbs.js';
import { promise } from '../../support/promise.js';
import {
  aMachine,
  aMachineWith,
  type MachineUnderTest,
} from '../../support/schedules/core-driver.js';
import { stateTable, type TableInput } from '../../support/schedules/state-table.js';

const EVENT = { eventId: 'new', kind: 'payment.settled', payload: { cents: 5 } };
const delivering = (fields: Record<string, unknown>): TableInput => ({
  enter: (m) => {
    const outcome = takeInboxEvent(m.machine, { ...EVENT, ...fields });
    return outcome.accepted ? 'accepted' : outcome.refusal.code;
  },
  refused: 'invalid_request',
});
const signalling = (input: unknown): TableInput => ({
  enter: (m) => {
    takeInboxSignal(m.machine, input);
    return undefined;
  },
  refused: '-: message_refused',
});

const INPUTS = {
  event: delivering({}),
  sameEvent: delivering({ eventId: 'first' }),
  sameIdOtherContent: delivering({ eventId: 'first', payload: { cents: 6 } }),
  sameIdOtherKind: delivering({ eventId: 'first', kind: 'payment.lost' }),
  idOfAResult: delivering({ eventId: 'tr:c' }),
  noId: delivering({ eventId: undefined }),
  longId: delivering({ eventId: 'x'.repeat(201) }),
  noKind: delivering({ kind: 'two words' }),
  noJson: delivering({ payload: 10n }),
  tooLarge: delivering({ payload: 'x'.repeat(MAX_MESSAGE_BYTES) }),
  otherAgent: delivering({ agent: 'sales' }),
  signal: signalling(EVENT),
  signalOfSameEvent: signalling({ ...EVENT, eventId: 'first' }),
  signalOfOtherContent: signalling({ ...EVENT, eventId: 'first', payload: 6 }),
  signalOfGarbage: signalling(null),
  lateResult: {
    enter: (m) => m.resolve('c', result(7), { requestId: 'late' }).verdict,
    refused: 'unknown',
  },
} satisfies Record<string, TableInput>;
type Input = keyof typeof INPUTS;

const deliver = (m: MachineUnderTest, eventId = 'first'): MachineUnderTest => {
  takeInboxEvent(m.machine, { ...EVENT, eventId, actor: actor('psp') });
  return m;
};
const speaking = (): MachineUnderTest => {
  const m = aMachine();
  m.send('hello');
  return m;
};
const waiting = (): MachineUnderTest =>
  aMachineWith(
    modelCalls([
      plannedCall('c', { executor: 'external', lateResult: 'inbox' }),
      plannedCall('other'),
    ]),
  );
const expired = (): MachineUnderTest => waiting().advance(ANSWER_MS);

type Cells = Readonly<Partial<Record<Input, string>>>;
const IDLE: Cells = {
  event: 'accepted: inbox_event turn_started',
  sameEvent: 'accepted: inbox_event turn_started',
  sameIdOtherContent: 'accepted: inbox_event turn_started',
  sameIdOtherKind: 'accepted: inbox_event turn_started',
  otherAgent: 'agent_mismatch',
  signal: '-: inbox_event turn_started',
  signalOfSameEvent: '-: inbox_event turn_started',
  signalOfOtherContent: '-: inbox_event turn_started',
};
const EMPTY: Cells = {
  event: 'accepted: inbox_event',
  sameEvent: 'accepted: inbox_event',
  sameIdOtherContent: 'accepted: inbox_event',
  sameIdOtherKind: 'accepted: inbox_event',
  otherAgent: 'agent_mismatch',
  signal: '-: inbox_event',
  signalOfSameEvent: '-: inbox_event',
  signalOfOtherContent: '-: inbox_event',
};
const KNOWN: Cells = {
  event: 'accepted: inbox_event',
  sameEvent: 'duplicate',
  otherAgent: 'agent_mismatch',
  signal: '-: inbox_event',
  signalOfSameEvent: '-',
};

stateTable<Input>('an inbox that', promise('G129'), INPUTS, {
  'is empty, of a conversation that never spoke': { build: () => aMachine(), cells: { ...IDLE } },
  'is empty, of an idle conversation': {
    build: () => deliver(aMachine()).model(modelSays('noted')),
    cells: {
      ...KNOWN,
      event: 'accepted: inbox_event turn_started',
      signal: '-: inbox_event turn_started',
    },
  },
  'has started a turn': { build: () => deliver(aMachine()), cells: { ...KNOWN } },
  'is empty while the model speaks': { build: () => speaking(), cells: { ...EMPTY } },
  'holds an event while the model speaks': {
    build: () => deliver(speaking()),
    cells: { ...KNOWN },
  },
  'holds an event while calls run': {
    build: () => deliver(waiting()),
    cells: { ...KNOWN, lateResult: 'accepted: resolution tool_result' },
  },
  'may get a late result': {
    build: () => expired(),
    cells: { ...EMPTY, lateResult: 'accepted_late: resolution inbox_event' },
  },
  'has a late result': {
    build: () => {
      const m = expired();
      m.resolve('c', result(7));
      return m;
    },
    cells: { ...EMPTY, lateResult: 'stale' },
  },
  'is full': {
    build: () => {
      const m = deliver(speaking());
      for (let index = 1; index < MAX_INBOX_EVENTS; index += 1) deliver(m, `e${index}`);
      return m;
    },
    cells: {
      event: 'queue_full',
      sameEvent: 'duplicate',
      otherAgent: 'agent_mismatch',
      signalOfSameEvent: '-',
    },
  },
  'is full, and may get a late result': {
    build: () => {
      const m = expired();
      for (let index = 0; index < MAX_INBOX_EVENTS; index += 1) deliver(m, `e${index}`);
      return m;
    },
    cells: {
      event: 'queue_full',
      sameEvent: 'queue_full',
      sameIdOtherContent: 'queue_full',
      sameIdOtherKind: 'queue_full',
      otherAgent: 'agent_mismatch',
      lateResult: 'accepted_late: resolution inbox_event',
    },
  },
  'was closed unread': {
    build: () => {
      const m = deliver(speaking());
      closeConversation(m.machine);
      return m;
    },
    cells: {
      event: 'conversation_closed',
      sameEvent: 'duplicate',
      otherAgent: 'conversation_closed',
      signal: '-',
      signalOfSameEvent: '-',
      signalOfOtherContent: '-',
      signalOfGarbage: '-',
    },
  },
});

/**
 * Every entry of a conversation in every state of it: its replies and its events. `conversation-any.test.ts` has
 * malformed input.
 */

import {
  APPROVE,
  actor,
  gatedCall,
  modelCalls,
  modelSays,
  plannedCall,
  result,
} from '../../support/builders/core-builders.js';
import {
  cancelTurn,
  closeConversation,
  extendToolCall,
  revokeRule,
  takeInboxEvent,
} from '../../support/builders/verbs.js';
import { promise } from '../../support/promise.js';
import {
  aMachine,
  aMachineWith,
  type MachineUnderTest,
} from '../../support/schedules/core-driver.js';
import { stateTable, type TableInput } from '../../support/schedules/state-table.js';

const closing = (reason: 'requested' | 'idle' | 'workflow_cancelled'): TableInput => ({
  enter: (m) => {
    if (reason === 'requested') closeConversation(m.machine);
    else m.machine.close(reason);
    return 'closed';
  },
  refused: 'closed',
});
const sending = (fields: Record<string, unknown>): TableInput => ({
  enter: (m) => {
    const outcome = m.trySend('more', { requestId: 'more', ...fields });
    return outcome.accepted ? 'accepted' : outcome.refusal.code;
  },
  refused: 'conversation_closed',
});

const INPUTS = {
  message: sending({}),
  messageForOther: sending({ agent: 'sales' }),
  event: {
    enter: (m) => {
      const event = { eventId: 'new', kind: 'news', payload: 1 };
      const outcome = takeInboxEvent(m.machine, event);
      return outcome.accepted ? 'accepted' : outcome.refusal.code;
    },
    refused: 'conversation_closed',
  },
  resolve: {
    enter: (m) => m.resolve('c', result(7), { requestId: 'new' }).verdict,
    refused: 'unknown',
  },
  approve: {
    enter: (m) => m.resolve('g', APPROVE, { requestId: 'new' }).verdict,
    refused: 'unknown',
  },
  extend: {
    enter: (m) =>
      extendToolCall(m.machine, { toolCallId: 'c', by: 1, actor: actor('ben') }).verdict,
    refused: 'unknown',
  },
  revoke: {
    enter: (m) => {
      const outcome = revokeRule(m.machine, { ruleId: m.state.rules?.[0]?.ruleId ?? 'rule_x' });
      return 'reply' in outcome ? 'revoked' : outcome.refusal.code;
    },
    refused: 'unknown_rule',
  },
  cancel: {
    enter: (m) => (cancelTurn(m.machine, {}).cancelled ? 'cancelled' : 'nothing'),
    refused: 'nothing',
  },
  close: closing('requested'),
  closeIdle: closing('idle'),
  workflowCancelled: closing('workflow_cancelled'),
} satisfies Record<string, TableInput>;
type Input = keyof typeof INPUTS;

const client = (over: Parameters<typeof plannedCall>[1] = {}) =>
  plannedCall('c', { executor: 'external', ...over });
/** A client call, a gated one, and a rule that another call left. */
const waiting = (): MachineUnderTest => {
  const m = aMachineWith(
    modelCalls([client(), gatedCall('g'), gatedCall('r', { name: 'other.tool' })]),
  );
  m.resolve('r', { type: 'deny', remember: { for: 'conversation' } });
  return m;
};
const closed = (m: MachineUnderTest): MachineUnderTest => {
  closeConversation(m.machine);
  return m;
};
const detached = (): MachineUnderTest =>
  aMachineWith(modelCalls([client({ mode: 'detach' })])).model(modelSays('asked'));
const speaking = (): MachineUnderTest => {
  const m = aMachine();
  m.send('hello');
  return m;
};

type Cells = Readonly<Partial<Record<Input, string>>>;
const IDLE: Cells = {
  message: 'accepted: user_message turn_started',
  messageForOther: 'agent_mismatch',
  event: 'accepted: inbox_event turn_started',
  close: 'closed: conversation_closed',
  closeIdle: 'closed: conversation_closed',
  workflowCancelled: 'closed: conversation_closed',
};
const CLOSED_WAITING: Cells = {
  resolve: 'stale',
  approve: 'stale',
  extend: 'stale',
  revoke: 'conversation_closed',
};
const REOPENED: Cells = {
  message: 'accepted: user_message turn_started',
  messageForOther: 'agent_mismatch',
  event: 'accepted: inbox_event turn_started',
  resolve: 'stale',
  approve: 'stale',
  extend: 'stale',
  revoke: 'revoked: rule_revoked',
  close: 'closed: conversation_closed',
  closeIdle: 'closed: conversation_closed',
  workflowCancelled: 'closed: conversation_closed',
};

stateTable<Input>('a conversation that', promise('G129'), INPUTS, {
  'never spoke': { build: () => aMachine(), cells: { ...IDLE } },
  'is idle': { build: () => speaking().model(modelSays('done')), cells: { ...IDLE } },
  'waits for its model': {
    build: () => speaking(),
    cells: {
      message: 'busy',
      messageForOther: 'agent_mismatch',
      event: 'accepted: inbox_event',
      cancel: 'cancelled: cancel_requested',
      close: 'closed: turn_ended conversation_closed',
      closeIdle: 'closed: turn_ended conversation_closed',
      workflowCancelled: 'closed: turn_ended conversation_closed',
    },
  },
  'waits for a person': {
    build: () => waiting(),
    cells: {
      message: 'busy',
      messageForOther: 'agent_mismatch',
      event: 'accepted: inbox_event',
      resolve: 'accepted: resolution tool_result',
      approve: 'accepted: resolution',
      extend: 'accepted: extended',
      revoke: 'revoked: rule_revoked',
      cancel: 'cancelled: cancel_requested tool_result tool_result turn_ended',
      close: 'closed: tool_result tool_result turn_ended conversation_closed',
      closeIdle: 'closed: tool_result tool_result turn_ended conversation_closed',
      workflowCancelled: 'closed: tool_result tool_result turn_ended conversation_closed',
    },
  },
  'is idle beside a detached call': {
    build: () => detached(),
    cells: {
      ...IDLE,
      resolve: 'accepted: resolution inbox_event turn_started',
      extend: 'accepted: extended',
      close: 'closed: inbox_event conversation_closed',
      closeIdle: 'closed: inbox_event conversation_closed',
      workflowCancelled: 'closed: inbox_event conversation_closed',
    },
  },
  'is being stopped': {
    build: () => {
      const m = speaking();
      cancelTurn(m.machine, {});
      return m;
    },
    cells: {
      message: 'busy',
      messageForOther: 'agent_mismatch',
      event: 'accepted: inbox_event',
      cancel: 'cancelled',
      close: 'closed: turn_ended conversation_closed',
      closeIdle: 'closed: turn_ended conversation_closed',
      workflowCancelled: 'closed: turn_ended conversation_closed',
    },
  },
  'was closed while it was idle': { build: () => closed(aMachine()), cells: {} },
  'was closed while it waited': { build: () => closed(waiting()), cells: { ...CLOSED_WAITING } },
  'was closed beside a detached call': {
    build: () => closed(detached()),
    cells: { resolve: 'stale', extend: 'stale' },
  },
  'was opened again': { build: () => closed(waiting()).reopen(), cells: { ...REOPENED } },
  'was opened again after it was cut off': {
    build: () => waiting().reopen(),
    cells: { ...REOPENED },
  },
});

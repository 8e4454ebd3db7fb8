/**
 * The one story that all examples of the description have: Ann wants her money back for order 3, the agent `refunds`
 * asks before it pays, and Bob approves. Values that many examples have.
 */
import type { PendingCall } from '../../../protocol/calls/suspensions.js';
import type { ConversationSnapshot } from '../../../protocol/conversation/conversation.js';
import type { Usage } from '../../../protocol/conversation/turns.js';
import type { StampedActor } from '../../../protocol/values/actors.js';
import { firstMessageId, formatRef, stepIdFor, turnIdFor } from '../../../protocol/values/ids.js';

/** Values of one operation that are right as they stand. */
export interface OperationExamples {
  /** Bodies of requests, by a name that the description shows. */
  readonly bodies?: Readonly<Record<string, object>>;
  /** Bodies of answers, by status. */
  readonly answers?: Readonly<Record<number, object>>;
}

/** By the `id` of the operation. */
export type Examples = Readonly<Record<string, OperationExamples>>;

export const TENANT = 'default';
export const CONVERSATION = 'order-3';
export const AGENT = 'refunds';
export const TURN = turnIdFor('9f2c41d07be3', 1);
export const STEP = stepIdFor(TURN, 1);
export const MESSAGE = firstMessageId(TURN);
export const CALL = 'call_refund_1';
export const RENDER = 'call_label_1';
export const BEGUN_AT = '2026-03-02T09:00:00.000Z';
export const ASKED_AT = '2026-03-02T09:00:02.000Z';
export const APPROVED_AT = '2026-03-02T09:20:00.000Z';
export const DEADLINE = '2026-03-04T09:00:02.000Z';

export const QUESTION = 'Order 3 arrived broken. I would like my money back.';
export const REFUND = { order: 3, cents: 4_200 };
export const ANN: StampedActor = { id: 'ann', verified: true, channel: 'api' };
export const BOB: StampedActor = {
  ...{ id: 'bob', name: 'Bob', roles: ['support-lead'] },
  ...{ verified: true, channel: 'api' },
};
export const USAGE: Usage = { inputTokens: 412, outputTokens: 38, costMicros: 1_250 };

/** Digest of the arguments of the refund. */
export const DIGEST = 'sha256:725d2dddbb07d4fd0cbdb46acb0df99270eeea004acae3dadc9edc9ff44ab0e1';
export const refOf = (toolCallId: string): string =>
  formatRef({ tenant: TENANT, conversationId: CONVERSATION, toolCallId });

/** The refund waits for an approval. */
export const PENDING: PendingCall = {
  ...{ ref: refOf(CALL), toolCallId: CALL, turnId: TURN, name: 'refund' },
  ...{ title: 'Refund an order', risk: 'high', executor: 'server', kind: 'approval' },
  ...{ prompt: REFUND, reason: '42.00 is more than 10.00' },
  audience: { roles: ['support-lead'] },
  ...{ argsDigest: DIGEST, openedAt: ASKED_AT, deadline: DEADLINE },
};

export const SNAPSHOT: ConversationSnapshot = {
  ...{
    tenant: TENANT,
    conversationId: CONVERSATION,
    agent: AGENT,
    status: 'awaiting_input',
    seq: 7,
  },
  ...{ generation: 1, startedAt: BEGUN_AT, updatedAt: ASKED_AT },
  turn: { turnId: TURN, step: 1, stepId: STEP, startedAt: BEGUN_AT },
  ...{ queued: [], pending: [PENDING], inFlightTools: [], usage: USAGE },
};

/** Why an input waits, and the next command. */
export const QUEUED = {
  status: 'queued',
  reason: 'no_worker',
  warning: 'No worker polls the task queue "colloquy". Start one: npx colloquy worker',
} as const;

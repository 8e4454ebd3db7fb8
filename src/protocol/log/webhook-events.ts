/**
 * Events for webhooks: what another system may wait for, derived from the log. Each is one JSON object that is a
 * CloudEvents 1.0 event and has the fields of a payload of Standard Webhooks. Runs anywhere.
 */
import type { ToolLabels } from '../calls/executors.js';
import type { SuspensionKind } from '../calls/suspensions.js';
import type { TurnLimit } from '../conversation/turns.js';

/** Every type, with the moment of its sending. The documents have the same table. */
export const WEBHOOK_EVENTS = {
  'conversation.suspension.opened': 'A call waits for a person, a client or another system.',
  'conversation.suspension.expiring':
    'Such a wait ends soon without an answer: once for each deadline.',
  'conversation.suspension.ended': 'A call waits no more: it was answered, or its wait has ended.',
  'conversation.turn.ended': 'A turn has ended.',
  'conversation.budget.reached': 'A turn is ended because it reached a limit.',
  'conversation.closed': 'A conversation was closed.',
  'conversation.failing': 'The workflow of a conversation fails again and again.',
} as const;

export type WebhookEventType = keyof typeof WEBHOOK_EVENTS;

/** The type of events that are sent on request, to one endpoint. */
export const WEBHOOK_TEST = 'webhook.test';

interface OfConversation {
  readonly tenant: string;
  readonly conversationId: string;
  /** Absent when the store has no event of the conversation yet. */
  readonly agent?: string;
  /** The conversation that began it, where it is one of a sub-agent. */
  readonly root?: string;
}

export interface AtEvent extends OfConversation {
  /** Place in the log, `<generation>-<seq>`: what `after` and `Last-Event-ID` of the API take. */
  readonly cursor: string;
}

interface OfSuspension extends AtEvent, ToolLabels {
  readonly turnId: string;
  readonly toolCallId: string;
  /** Names the call in the requests that answer it. */
  readonly ref: string;
  readonly tool: string;
  readonly kind: SuspensionKind;
  /** ISO 8601 */
  readonly deadline: string;
  /** Present where an answer may, or must, name what it is given for. */
  readonly argsDigest?: string;
}

/** Why a call waits no more. `withdrawn`: the log was rewritten, and the call is not in it any more. */
export type SuspensionOutcome = 'answered' | 'expired' | 'cancelled' | 'withdrawn';

/** `data` by type: facts and references; no text of a message, no input and no result. */
export interface WebhookData {
  readonly 'conversation.suspension.opened': OfSuspension & {
    readonly openedAt: string;
    /** A worker's check did not accept the answer before. */
    readonly reverted?: true;
  };
  readonly 'conversation.suspension.expiring': OfSuspension;
  readonly 'conversation.suspension.ended': OfSuspension & {
    readonly outcome: SuspensionOutcome;
    /** Type of the answer, and id of the actor who gave it. */
    readonly answer?: string;
    readonly by?: string;
  };
  readonly 'conversation.turn.ended': AtEvent & {
    readonly turnId: string;
    readonly status: 'completed' | 'failed' | 'cancelled';
    readonly reason?: string;
    /** A code of the failure table. */
    readonly error?: string;
    readonly steps: number;
  };
  readonly 'conversation.budget.reached': AtEvent & {
    readonly turnId: string;
    readonly limit: TurnLimit;
  };
  readonly 'conversation.closed': AtEvent & {
    readonly reason: string;
  };
  readonly 'conversation.failing': OfConversation & {
    readonly runId: string;
    /** ISO 8601 */
    readonly since: string;
    readonly attempts: number;
  };
}

export interface WebhookEnvelope<Type extends string = string, Data = unknown> {
  readonly specversion: '1.0';
  /** The same in every delivery of the event, and in the header `webhook-id`. */
  readonly id: string;
  readonly source: string;
  readonly type: Type;
  /** ISO 8601; when it happened. */
  readonly time: string;
  /** The same time, under the name that Standard Webhooks gives it. */
  readonly timestamp: string;
  /** Id of the call or the turn. */
  readonly subject?: string;
  readonly datacontenttype: 'application/json';
  readonly data: Data;
}

export type WebhookEvent = {
  [Type in WebhookEventType]: WebhookEnvelope<Type, WebhookData[Type]>;
}[WebhookEventType];

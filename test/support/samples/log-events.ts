/** Canonical events for tests of the store and the projection: short logs that read like a conversation. */

import type { Suspension } from '../../../src/protocol/calls/suspensions.js';
import type { CanonicalEvent, EventBody } from '../../../src/protocol/log/events.js';
import { SYSTEM_ACTOR } from '../../../src/protocol/values/actors.js';
import type { ConversationKey } from '../../../src/protocol/values/ids.js';

export const KEY: ConversationKey = { tenant: 'default', conversationId: 'c1' };

const FIRST_AT_MS = Date.parse('2030-01-01T00:00:00.000Z');

/**
 * Stamps bodies with dense seqs from `from`. `clock` distinguishes the decisions of two runs at the same seq: by the
 * time and, because the time alone makes no other event, by the request ids of messages.
 */
export function stamped(
  bodies: readonly EventBody[],
  options: { readonly from?: number; readonly clock?: number } = {},
): readonly CanonicalEvent[] {
  const { from = 1, clock = 0 } = options;
  return bodies.map((body, index) => {
    const seq = from + index;
    const at = new Date(FIRST_AT_MS + clock + seq * 1_000).toISOString();
    const other =
      clock !== 0 && body.type === 'user_message'
        ? { requestId: `${body.requestId}-${clock}` }
        : {};
    return { ...body, ...other, seq, at };
  });
}

export function started(key: ConversationKey = KEY, chain = 'chain0'): EventBody {
  const settings = {
    maxSteps: 25,
    onBusy: 'queue',
    idleCloseMs: 1_000_000,
    coreRevision: 1,
  } as const;
  return { type: 'conversation_started', ...key, agent: 'helper', chain, settings };
}

export function asks(turnId: string, text = 'hello'): readonly EventBody[] {
  const messageId = `${turnId}.0`;
  const message = { turnId, messageId, requestId: `request-${turnId}`, actor: SYSTEM_ACTOR };
  return [
    { type: 'user_message', ...message, parts: [{ type: 'text', text }] },
    { type: 'turn_started', turnId, messageId },
  ];
}

export function answers(turnId: string, text = 'hi'): readonly EventBody[] {
  const usage = { inputTokens: 10, outputTokens: 5 };
  const step = { turnId, step: 1 };
  return [
    { type: 'model_call', ...step, attempt: 1, model: 'scripted', finishReason: 'stop', usage },
    {
      type: 'assistant_message',
      ...step,
      messageId: `${turnId}.1`,
      parts: [{ type: 'text', text }],
    },
    { type: 'turn_ended', turnId, status: 'completed', text, steps: 1, usage },
  ];
}

/** A whole turn: five events. */
export function turn(turnId: string, text?: string): readonly EventBody[] {
  return [...asks(turnId), ...answers(turnId, text)];
}

export function suspends(
  turnId: string,
  toolCallId: string,
  more: Partial<Suspension> = {},
): EventBody {
  return {
    type: 'suspension',
    suspension: {
      toolCallId,
      turnId,
      name: 'pay',
      executor: 'server',
      kind: 'approval',
      prompt: { amount: 5 },
      openedAt: '2030-01-01T00:00:00.000Z',
      deadline: '2030-01-02T00:00:00.000Z',
      ...more,
    },
  };
}

export function closes(): EventBody {
  return { type: 'conversation_closed', reason: 'requested', actor: SYSTEM_ACTOR };
}

/** `seq:type` of each event, for assertions about order. */
export function outline(events: readonly CanonicalEvent[]): readonly string[] {
  return events.map((event) => `${event.seq}:${event.type}`);
}

/** Live messages for tests and for their child processes. */

import type { LiveEvent } from '../../../src/protocol/log/live-events.js';
import type { ConversationKey } from '../../../src/protocol/values/ids.js';
import type { LiveMessage } from '../../../src/store/ports/live.js';
import { KEY } from './log-events.js';

export function delta(text: string, key: ConversationKey = KEY): LiveMessage {
  return { type: 'live', ...key, event: textDelta(text) };
}

/** A tool call of the same step has begun to run. */
export function begun(toolCallId: string): LiveMessage {
  const event = { turnId: 't1', step: 1, attempt: 1, toolCallId, name: 'lookup' };
  return { type: 'live', ...KEY, event: { type: 'tool_call_started', ...event } };
}

/** A live event of the first step of turn `t1`, unless given otherwise. */
export function textDelta(
  text: string,
  { offset = 0, attempt = 1, step = 1, turnId = 't1' } = {},
): Extract<LiveEvent, { type: 'text_delta' }> {
  const of = { turnId, step, attempt, messageId: `${turnId}.${step}` };
  return { type: 'text_delta', ...of, offset, text };
}

/** The text of deltas, the type of every other event. */
export function textsOf(messages: readonly LiveMessage[]): readonly string[] {
  return messages.map((message) =>
    message.type === 'live' && message.event.type === 'text_delta'
      ? message.event.text
      : message.type,
  );
}

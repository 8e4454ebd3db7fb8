/** Live messages for tests and for their child processes. */
import type { ConversationKey } from '../../src/protocol/ids.js';
import type { LiveMessage } from '../../src/store/live-port.js';
import { KEY } from './log-events.js';

export function delta(text: string, key: ConversationKey = KEY): LiveMessage {
  const step = { turnId: 't1', step: 1, attempt: 1, messageId: 't1.1' };
  return { type: 'live', ...key, event: { type: 'text_delta', ...step, offset: 0, text } };
}

/** The text of deltas, the type of everything else. */
export function textsOf(messages: readonly LiveMessage[]): readonly string[] {
  return messages.map((message) =>
    message.type === 'live' && message.event.type === 'text_delta'
      ? message.event.text
      : message.type,
  );
}

/** The messages and results before a call: who gave each part, and whether it can be trusted. Pure. */
import type { CallView, MessageView } from 'colloquy/browser';

export interface Said {
  readonly key: string;
  readonly speaker: string;
  /** `trusted`: the service itself made it. `untrusted`: its content is under the control of its sender. */
  readonly trust: 'trusted' | 'untrusted' | 'model';
  /** The trust in words. */
  readonly mark: string;
  readonly text: string;
}

/** The parts in their order, oldest first; the last is what the model said with the call. */
export function saidBefore(messages: readonly MessageView[], toolCallId: string): readonly Said[] {
  const at = messages.findIndex(
    (message) =>
      message.role === 'assistant' && message.calls.some((call) => call.toolCallId === toolCallId),
  );
  return messages.slice(0, at + 1).flatMap((message, index) => saidIn(message, index < at));
}

function saidIn(message: MessageView, withCalls: boolean): readonly Said[] {
  const { key } = message;
  if (message.role === 'assistant') {
    const text = { key, speaker: 'Model', trust: 'model', mark: 'the model wrote this' } as const;
    return [
      ...(message.text === '' ? [] : [{ ...text, text: message.text }]),
      ...(withCalls ? message.calls.flatMap((call) => resultOf(call)) : []),
    ];
  }
  if (message.role === 'event') {
    const text = JSON.stringify(message.payload ?? null, null, 2);
    return [{ key, speaker: `Event ${message.kind}`, ...FROM_OUTSIDE, text }];
  }
  const { from, text } = message;
  const proven = from?.verified === true ? 'identity proven' : 'identity not proven';
  const mark = `untrusted: a person wrote this, ${proven}`;
  return [{ key, speaker: from?.name ?? from?.id ?? 'User', trust: 'untrusted', mark, text }];
}

const FROM_OUTSIDE = {
  trust: 'untrusted',
  mark: 'untrusted: a person, a page or another system gave this',
} as const;
const FROM_TOOL = { trust: 'trusted', mark: 'trusted: a tool of this service gave this' } as const;

function resultOf({ key, name, result, provenance }: CallView): readonly Said[] {
  if (result === undefined) return [];
  const value = result.ok ? result.result : `${result.error.code}: ${result.error.message}`;
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  const trust = provenance === 'trusted' ? FROM_TOOL : FROM_OUTSIDE;
  return [{ key, speaker: `Result of ${name}`, ...trust, text }];
}

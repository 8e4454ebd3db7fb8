/**
 * Decides which tool results are shown as stubs, and makes the stubs. Pairs of call and result stay, and the log is
 * never changed. Pure.
 */
import type { Retention } from '../../protocol/conversation/context.js';
import type { Message, ToolMessage, ToolResultPart } from '../../protocol/conversation/messages.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import type { ToolCallId } from '../../protocol/values/ids.js';
import { turnSpans } from './turn-spans.js';

export type RetentionOf = (toolName: string) => Retention;

/**
 * The calls whose results are old at the last of these messages; the turn of that message counts as the one in
 * progress.
 */
export function oldResults(
  messages: readonly Message[],
  retentionOf: RetentionOf,
): ReadonlySet<ToolCallId> {
  const old = new Set<ToolCallId>();
  const newer = new Map<string, number>();
  for (const [age, { from, to }] of turnSpans(messages).toReversed().entries())
    for (let index = to - 1; index >= from; index -= 1) {
      const message = messages[index];
      if (message?.role !== 'tool') continue;
      for (const { toolCallId, name } of message.parts.toReversed()) {
        const count = newer.get(name) ?? 0;
        newer.set(name, count + 1);
        if (isOld(retentionOf(name), { age, count })) old.add(toolCallId);
      }
    }
  return old;
}

/** `age`: number of turns that have started since; `count`: number of newer results of the same tool. */
function isOld(
  retention: Retention,
  { age, count }: { readonly age: number; readonly count: number },
): boolean {
  if (retention === 'never_evict') return false;
  return 'turns' in retention ? age >= retention.turns : count >= retention.last;
}

/** Replaces old results by stubs; returns the same object when the message has none. */
export function withStubs(message: Message, old: ReadonlySet<ToolCallId>): Message {
  if (message.role !== 'tool' || old.size === 0) return message;
  const parts = message.parts.map((part) => (old.has(part.toolCallId) ? stubOf(part) : part));
  return parts.every((part, index) => part === message.parts[index])
    ? message
    : ({ ...message, parts } satisfies ToolMessage);
}

/** Number of results of the message that became stubs. */
export function stubsIn(shown: Message, original: Message): number {
  if (shown === original || shown.role !== 'tool') return 0;
  return shown.parts.filter((part, index) => part !== original.parts[index]).length;
}

/** The stub keeps success or error code; a result that is not longer than its stub stays as it is. */
function stubOf(part: ToolResultPart): ToolResultPart {
  const { envelope } = part;
  const stub: ToolResultPart['envelope'] = envelope.ok
    ? { ok: true, result: TEXTS.resultExpired }
    : { ok: false, error: { code: envelope.error.code, message: TEXTS.resultExpired } };
  return JSON.stringify(stub).length < JSON.stringify(envelope).length
    ? { ...part, envelope: stub }
    : part;
}

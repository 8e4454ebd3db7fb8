/** Events, usage and sizes in words. Pure. */
import type { CanonicalEvent } from 'colloquy/browser';
import type { ConversationSnapshot, Message, Usage } from 'colloquy/browser/studio';

const MAX_CHARS = 90;

/** One line on an event, beside its type. */
export function eventWords(event: CanonicalEvent): string {
  const text = wordsOf(event).replaceAll(/\s+/g, ' ');
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text;
}

function wordsOf(event: CanonicalEvent): string {
  switch (event.type) {
    case 'user_message':
    case 'assistant_message':
      return event.parts
        .map((part) => (part.type === 'tool_call' ? `calls ${part.name}` : partWords(part)))
        .join(' ');
    case 'model_call':
      return `${event.model}, ${usageWords(event.usage)}, ${event.finishReason}`;
    case 'tool_call':
      return `${event.call.name} (${event.call.executor})`;
    case 'suspension':
      return `${event.suspension.name} waits: ${event.suspension.kind}`;
    case 'resolution':
      return `${event.resolution.type} by ${event.actor.name ?? event.actor.id}`;
    case 'tool_result':
      return `${event.name}: ${event.result.status}`;
    case 'turn_ended':
      return [event.status, event.reason, event.error?.message].filter(Boolean).join(', ');
    case 'inbox_event':
      return event.name ?? event.kind;
    case 'summary':
      return event.text;
    default:
      return Object.entries(event)
        .filter(([name, value]) => isShown(name) && typeof value === 'string')
        .map(([, value]) => value as string)
        .join(' ');
  }
}

function isShown(name: string): boolean {
  return !['type', 'at', 'turnId', 'requestId', 'chain', 'tenant'].includes(name);
}

function partWords(part: { readonly type: string }): string {
  if ('text' in part && typeof part.text === 'string') return part.text;
  return `[${part.type}]`;
}

/** `1,200 tokens in, 80 out`, with the cost where the model has prices. */
export function usageWords(usage: Usage): string {
  const { inputTokens, outputTokens, costMicros, estimated } = usage;
  const cost = costMicros === undefined ? '' : `, ${costWords(costMicros)}`;
  const about = estimated === true ? 'about ' : '';
  return `${about}${count(inputTokens)} tokens in, ${count(outputTokens)} out${cost}`;
}

/** The currency is that of the model's prices, which the log does not name. */
function costWords(micros: number): string {
  return `cost ${(micros / 1_000_000).toFixed(4)}`;
}

function count(value: number): string {
  return value.toLocaleString('en-US');
}

/** `12.3 kB` */
export function bytesWords(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000
    ? `${(bytes / 1_000).toFixed(1)} kB`
    : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

const STATUSES: Readonly<Record<string, string>> = {
  idle: 'Idle',
  streaming: 'The model answers',
  executing_tools: 'Tools run',
  awaiting_input: 'Waits for an answer',
  failing: 'Its workflow fails',
  slow: 'Its workflow is slow',
  closed: 'Closed',
};

export function statusWords({ status, attention }: ConversationSnapshot): string {
  const words = STATUSES[status] ?? status;
  return attention === undefined ? words : `${words}; no worker serves its agent`;
}

/** The state by the log, with trouble and attention as the API sees them from outside: no log has them. */
export function withTrouble(
  logged: ConversationSnapshot | undefined,
  present: ConversationSnapshot,
): ConversationSnapshot {
  if (logged === undefined) return present;
  const { trouble, attention } = present;
  return {
    ...logged,
    ...(trouble === undefined ? {} : { trouble, status: trouble.kind }),
    ...(attention === undefined ? {} : { attention }),
  };
}

/** `trusted`: the service itself made it. `untrusted`: a person, a page or another system controls it. */
export function trustOf(message: Message): 'trusted' | 'untrusted' | 'model' {
  switch (message.role) {
    case 'user':
      return 'untrusted';
    case 'assistant':
      return message.synthetic === true ? 'trusted' : 'model';
    case 'tool':
      return message.parts.some((part) => part.provenance !== undefined) ? 'untrusted' : 'trusted';
  }
}

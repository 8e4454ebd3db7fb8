/**
 * Searches the log for a request or a call, for conversations whose workflow is gone. Reads whole logs: only for the
 * rare path where Temporal has answered "not found".
 */
import type { Verdict } from '../../protocol/calls/resolutions.js';
import { endingCode } from '../../protocol/calls/results.js';
import type {
  SendMessageInput,
  SendMessageReply,
} from '../../protocol/conversation/conversation.js';
import type { InboxEventInput, InboxEventReply } from '../../protocol/conversation/inbox.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import { type ConversationKey, REUSED } from '../../protocol/values/ids.js';
import { canonicalJson } from '../../protocol/values/json.js';
import { invalidField } from '../api/errors.js';
import type { ConversationReader, LogCursor } from '../ports/reader.js';
import { type OwnAnswer, ownAnswer, repeatOf, type SentResolution } from './own-answer.js';

/** All events of the newest generation, in order; none when the conversation is not known. */
export async function* allEvents(
  reader: ConversationReader,
  key: ConversationKey,
): AsyncGenerator<CanonicalEvent, boolean> {
  let after: LogCursor | undefined;
  for (;;) {
    const page = await reader.events(key, after === undefined ? {} : { after });
    if (page === undefined) return after !== undefined;
    yield* page.events;
    if (!page.more) return true;
    after = page.cursor;
  }
}

/** A message to search for, by its request id and its content. */
export type SentMessage = Pick<SendMessageInput, 'text' | 'attachments' | 'output'> & {
  readonly requestId: string;
};

/**
 * The reply to a message, as it was recorded.
 * @throws {ConversationError} invalid_request when the log has only other messages under the request id
 */
export async function findMessage(
  reader: ConversationReader,
  key: ConversationKey,
  { requestId, text, attachments = [], output }: SentMessage,
): Promise<SendMessageReply | undefined> {
  const content = canonicalJson([[{ type: 'text', text }, ...attachments], output]);
  let isReused = false;
  for await (const event of allEvents(reader, key)) {
    if (event.type !== 'user_message' || event.requestId !== requestId) continue;
    const { turnId, messageId, seq, parts } = event;
    if (canonicalJson([parts, event.output]) === content)
      return { turnId, messageId, seq, ahead: 0 };
    isReused = true;
  }
  if (isReused) throw invalidField(REUSED.path, REUSED.message);
  return undefined;
}

/**
 * The reply to an event of another system, as it was recorded.
 * @throws {ConversationError} invalid_request when the log has another event under its id
 */
export async function findEvent(
  reader: ConversationReader,
  key: ConversationKey,
  { eventId, kind, payload }: Pick<InboxEventInput, 'eventId' | 'kind' | 'payload'>,
): Promise<InboxEventReply | undefined> {
  for await (const event of allEvents(reader, key)) {
    if (event.type !== 'inbox_event' || event.eventId !== eventId) continue;
    if (event.kind === kind && canonicalJson(event.payload) === canonicalJson(payload))
      return { eventId, seq: event.seq };
    throw invalidField('/eventId', 'was used before for an event with other content');
  }
  return undefined;
}

export type LogVerdict = Extract<
  Verdict,
  { verdict: 'unknown' | 'duplicate' | 'stale' | 'expired' | 'invalid' }
>;

/**
 * The verdict on a resolution for a conversation that no longer runs: from its log alone, in the order of the table.
 */
export async function verdictFromLog(
  reader: ConversationReader,
  key: ConversationKey,
  request: SentResolution,
): Promise<LogVerdict> {
  const { toolCallId } = request;
  let known = false;
  let called = false;
  let tombstone: LogVerdict | undefined;
  let own: OwnAnswer | undefined;
  const trace = ownAnswer(request);
  for await (const event of allEvents(reader, key)) {
    known = true;
    own = trace(own, event);
    if (!('toolCallId' in event ? event.toolCallId === toolCallId : isCall(event, toolCallId)))
      continue;
    if (event.type === 'tool_call') called = true;
    tombstone = tombstoneOf(event, tombstone);
  }
  if (!known) return { verdict: 'unknown', what: 'conversation' };
  const repeated = repeatOf(own);
  if (repeated !== undefined) return repeated;
  if (!called) return { verdict: 'unknown', what: 'tool_call' };
  return tombstone ?? { verdict: 'stale', why: 'already_resolved', status: 'cancelled' };
}

export function isCall(event: CanonicalEvent, toolCallId: string): boolean {
  return event.type === 'tool_call' && event.call.toolCallId === toolCallId;
}

/** The verdict on a call after one more of its events; undefined while it may be answered. */
export function tombstoneOf(
  event: CanonicalEvent,
  earlier: LogVerdict | undefined,
): LogVerdict | undefined {
  // The answer was taken back: the call was open again.
  if (event.type === 'resolution_reverted') return undefined;
  if (event.type === 'expired') return { verdict: 'expired', deadline: event.deadline };
  if (event.type === 'resolution')
    return {
      verdict: 'stale',
      why: 'already_resolved',
      status: event.resolution.type === 'deny' ? 'denied' : 'resolved',
      by: event.actor.id,
      at: event.at,
    };
  if (event.type !== 'tool_result' && event.type !== 'inbox_event') return earlier;
  if (event.result === undefined) return earlier;
  const { status, actor } = event.result;
  if (status === 'detached') return earlier;
  if (status === 'expired' && earlier?.verdict === 'expired') return earlier;
  // The workflow names the same actor and time (`withTombstone`): a cancel also ends a call that was approved before.
  const by = actor?.id ?? (earlier?.verdict === 'stale' ? earlier.by : undefined);
  return {
    verdict: 'stale',
    why: 'already_resolved',
    status,
    ...(by === undefined ? {} : { by }),
    at: event.at,
    ...endingCode(event.result),
  };
}

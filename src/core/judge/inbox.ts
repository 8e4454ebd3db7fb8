/**
 * Reads and judges inbox events. The entries of the inbox enter the transcript before the next model call of a turn;
 * when no turn runs, they start one. Pure; never throws.
 */

import type { InboxEventReply } from '../../protocol/conversation/inbox.js';
import { inboxFieldProblems } from '../../protocol/conversation/inbox.js';
import { MAX_INBOX_EVENTS, MAX_MESSAGE_BYTES } from '../../protocol/limits/limits.js';
import { isRecord, utf8Bytes } from '../../protocol/values/json.js';
import type { PlainRecord } from '../input/plain-input.js';
import { contentDigest } from '../memory/duplicates.js';
import { rememberedInboxEvent } from '../memory/memory.js';
import { isSameDigest } from '../state/requests.js';
import type { ConversationState } from '../state/state.js';
import type { Judged, Parsed, Refusal } from './judged.js';
import { misplacedRefusal } from './messages.js';

export type InboxRefusal = Refusal<InboxEventReply>;

export function parseInboxEvent(input: unknown): Parsed<PlainRecord, InboxRefusal> {
  const problems = inboxFieldProblems(input);
  return problems.length > 0 || !isRecord(input)
    ? { refusal: { code: 'invalid_request', message: 'The event breaks a rule', problems } }
    : { request: input };
}

export function judgeInboxEvent(
  state: ConversationState,
  input: PlainRecord,
): Judged<PlainRecord, InboxRefusal> {
  const refusal = inboxRefusal(state, input);
  return refusal === undefined ? { accepted: input } : { refusal };
}

function inboxRefusal(state: ConversationState, input: PlainRecord): InboxRefusal | undefined {
  const { eventId, kind, payload, agent } = input;
  const known = rememberedInboxEvent(state, String(eventId));
  if (known !== undefined) return knownRefusal(known, contentDigest(String(kind), payload));
  const misplaced = misplacedRefusal(state, agent);
  if (misplaced !== undefined) return misplaced;
  const waiting = state.inbox ?? [];
  const bytes = waiting.reduce((sum, entry) => sum + utf8Bytes(entry.text), 0);
  if (waiting.length >= MAX_INBOX_EVENTS || bytes > 2 * MAX_MESSAGE_BYTES)
    return { code: 'queue_full', message: `${waiting.length} events wait already` };
  return undefined;
}

/**
 * Refuses a second event under a known id. Other content under the same id is a mistake of the sender, and must be
 * reported.
 */
function knownRefusal(
  known: { readonly digest: string; readonly reply: InboxEventReply },
  digest: string,
): InboxRefusal {
  if (isSameDigest(known.digest, digest))
    return { code: 'duplicate', message: 'Accepted before', reply: known.reply };
  const message = 'was used before for an event with other content';
  return {
    code: 'invalid_request',
    message: 'The event breaks a rule',
    problems: [{ path: '/eventId', message }],
  };
}

/**
 * The verdict on an answer to a call that has ended by the log: it needs no worker, and no signal that a busy worker
 * would have to refuse. Refuses only answers that can never be accepted any more; the workflow judges all others.
 *
 * E1  A repeat of an accepted answer is a `duplicate`, even if the call has changed since.
 * E2  A call that takes late results is left to the workflow, and so is one that was resolved and may wait again.
 * E3  All events come from one generation of the log: if it is rewritten during the read, there is no verdict.
 */

import type { PlannedCall } from '../../protocol/calls/plan.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import type { BeforePosition, ConversationReader } from '../ports/reader.js';
import { within } from '../temporal/waiting.js';
import { isCall, type LogVerdict, tombstoneOf } from './log-search.js';
import { type OwnAnswer, ownAnswer, repeatOf, type SentResolution } from './own-answer.js';
import { WorkflowReader } from './workflow-reader.js';

/** Milliseconds that the reads of the log may take: the log helps here, but is not required. */
export const LOG_DEADLINE_MS = 1_500;
const PAGE_EVENTS = 200;
/** Pages of the log that are read. A call that ended further back is left to the workflow. */
const MAX_PAGES = 5;

interface LoggedCall {
  /** Absent: the log has no verdict. */
  readonly verdict?: LogVerdict | undefined;
  /** Seq of the newest event of the call. Absent: the log does not have the call. */
  readonly seq?: number | undefined;
}

/** The verdict of the log, if there is one. Never throws. */
export async function endedVerdict(
  reader: ConversationReader,
  key: ConversationKey,
  request: SentResolution,
): Promise<LogVerdict | undefined> {
  return (await loggedCall(reader, key, request)).verdict;
}

/** Empty when the log does not have the call, or cannot be read in time. Never throws. */
export async function loggedCall(
  reader: ConversationReader,
  key: ConversationKey,
  request: SentResolution,
): Promise<LoggedCall> {
  // This reader would query the workflow, which did not answer the update.
  if (reader instanceof WorkflowReader) return {};
  const events = await within(LOG_DEADLINE_MS, eventsOf(reader, key, request.toolCallId)).catch(
    () => undefined,
  );
  if (events === undefined) return {};
  return { verdict: verdictOn(events, request), seq: events.at(-1)?.seq };
}

/** Events of one call, in order, from its beginning; undefined when that is not found. */
async function eventsOf(
  reader: ConversationReader,
  key: ConversationKey,
  toolCallId: string,
): Promise<readonly CanonicalEvent[] | undefined> {
  const found: CanonicalEvent[] = [];
  let generation: number | undefined;
  let before: BeforePosition = 'end';
  for (let read = 0; read < MAX_PAGES; read += 1) {
    const page = await reader.events(key, { before, limit: PAGE_EVENTS });
    if (page === undefined || page.generation !== (generation ?? page.generation)) return undefined;
    ({ generation } = page);
    for (const event of page.events) {
      const isOwn = 'toolCallId' in event && event.toolCallId === toolCallId;
      const isBeginning = isCall(event, toolCallId);
      if (isOwn || isBeginning) found.push(event);
      if (isBeginning) return found.reverse();
    }
    if (!page.more) return undefined;
    before = page.cursor;
  }
  return undefined;
}

function verdictOn(
  events: readonly CanonicalEvent[],
  request: SentResolution,
): LogVerdict | undefined {
  const trace = ownAnswer(request);
  let plan: PlannedCall | undefined;
  let own: OwnAnswer | undefined;
  let tombstone: LogVerdict | undefined;
  let hasEnded = false;
  for (const event of events) {
    if (event.type === 'tool_call') plan = event.call;
    own = trace(own, event);
    tombstone = tombstoneOf(event, tombstone);
    hasEnded ||= isEnd(event);
  }
  const repeated = repeatOf(own);
  if (repeated?.verdict === 'duplicate') return repeated;
  const isTakenLate = tombstone?.verdict === 'expired' && plan?.lateResult === 'inbox';
  return hasEnded && !isTakenLate ? (repeated ?? tombstone) : undefined;
}

/** True for the final result. A detached call has its first result at once, and ends as new input. */
function isEnd(event: CanonicalEvent): boolean {
  if (event.type !== 'tool_result' && event.type !== 'inbox_event') return false;
  return event.result !== undefined && event.result.status !== 'detached';
}

/** The result of a turn that never ended, because its run was over before. */
import { addUsage, NO_USAGE, takenBy } from '../../core/state/usage.js';
import type { ConversationSnapshot, TurnResult } from '../../protocol/conversation/conversation.js';
import { textOf } from '../../protocol/conversation/messages.js';
import { type CanonicalEvent, MAY_END_TURNS } from '../../protocol/log/events.js';
import type { TurnId } from '../../protocol/values/ids.js';
import type { EventLog } from '../../store/ports/log.js';
import type { LogHead } from '../../store/ports/log-head.js';
import { ENDED_TEXTS } from './run-ended.js';

/**
 * `failed`, when the turn is stored without its end and is not open in the snapshot: the conversation is closed, or was
 * opened again since. `events` are those of the turn, read after the head. `moved`: the log has grown meanwhile, and
 * only a newer head can say it.
 * @throws {StoreUnavailable}
 */
export async function resultOfLostTurn(
  log: EventLog,
  found: {
    readonly head: LogHead;
    readonly events: readonly CanonicalEvent[];
    readonly turnId: TurnId;
  },
): Promise<TurnResult | 'moved' | undefined> {
  const { head, events, turnId } = found;
  const last = events.at(-1);
  if (last === undefined || isOpenIn(head.snapshot, turnId)) return undefined;
  // The turn may be newer than the head that was read: then it is not open in that head, either.
  const now = await log.head(head);
  if (now?.generation !== head.generation || now.lastSeq !== head.lastSeq) return 'moved';
  const end = await endOf(log, head, { turnId, lastSeq: last.seq });
  if (end === undefined) return undefined;
  let text = '';
  let usage = NO_USAGE;
  for (const event of events) {
    if (event.type === 'assistant_message') text = textOf(event.parts);
    if (event.type === 'model_call') usage = addUsage(usage, takenBy(event));
  }
  const code = end.type === 'events_lost' ? 'internal' : 'conversation_closed';
  const error = { code, message: messageOf(end) };
  return { status: 'failed', turnId, error, text, usage, seq: end.seq };
}

function isOpenIn({ turn, queued }: ConversationSnapshot, turnId: TurnId): boolean {
  return turn?.turnId === turnId || queued.includes(turnId);
}

/** The event at which a turn was over that has none of its own: the first such behind its last event. */
async function endOf(
  log: EventLog,
  head: LogHead,
  { turnId, lastSeq }: { readonly turnId: TurnId; readonly lastSeq: number },
): Promise<CanonicalEvent | undefined> {
  for (let afterSeq = lastSeq; ; ) {
    const read = await log.read(head, { generation: head.generation, afterSeq });
    const end = read?.events.find((event) => ends(event, turnId));
    if (end !== undefined || read?.more !== true) return end;
    afterSeq = read.events.at(-1)?.seq ?? head.lastSeq;
  }
}

function ends(event: CanonicalEvent, turnId: TurnId): boolean {
  if (event.type !== 'events_lost') return MAY_END_TURNS.includes(event.type);
  const { seq, from, snapshot } = event;
  return seq === from && (snapshot === undefined || !isOpenIn(snapshot, turnId));
}

function messageOf(end: CanonicalEvent): string {
  if (end.type === 'run_ended')
    return `The workflow run of the conversation ${ENDED_TEXTS[end.status]} before the turn ended`;
  if (end.type === 'events_lost') return 'The outcome of the turn is lost: the event log has a gap';
  if (end.type === 'conversation_closed')
    return 'The conversation was closed before the turn ended';
  return 'The workflow run of the conversation was over before the turn ended; the conversation was opened again';
}

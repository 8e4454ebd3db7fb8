/** The inbox of a conversation as its event log has it. */
import type { CanonicalEvent, InboxEvent } from '../protocol/log/events.js';
import type { Json } from '../protocol/values/json.js';
import type { EventLog } from '../store/ports/log.js';
import type { InboxOfAgents, WaitingEvent } from './plugin/inbox/peek.js';

const PAGE_EVENTS = 200;
/** A turn with more events than these has more waiting events than any result may show. */
const MAX_PAGES = 10;
const END = Number.MAX_SAFE_INTEGER;

/** Reads back from the end of the log to the start of the turn. */
export function inboxOf(log: Pick<EventLog, 'read'>): InboxOfAgents {
  return {
    waiting: async ({ tenant, conversationId, turnId }) => {
      const newestFirst: WaitingEvent[] = [];
      let beforeSeq = END;
      for (let page = 0; page < MAX_PAGES; page += 1) {
        const key = { tenant, conversationId };
        const read = await log.read(key, { beforeSeq, limit: PAGE_EVENTS });
        for (const event of read?.events ?? []) {
          if (event.type === 'turn_started') {
            // The log lags behind the turn: these events belong to turns before it.
            if (event.turnId !== turnId) return undefined;
            return { events: newestFirst.reverse(), more: false };
          }
          if (event.type === 'inbox_event') newestFirst.push(waitingEvent(event));
          beforeSeq = event.seq;
        }
        if (read?.more !== true) return undefined;
      }
      return { events: newestFirst.reverse(), more: true };
    },
  };
}

type Recorded = Extract<CanonicalEvent, { readonly type: InboxEvent['type'] }>;

function waitingEvent({ eventId, kind, at, payload, ...rest }: Recorded): WaitingEvent {
  const { toolCallId, name, originTurnId, result } = rest;
  const data = { toolCallId, toolName: name, originRunId: originTurnId, result };
  const isResult = toolCallId !== undefined;
  return {
    ...{ eventId, type: kind, timestamp: at },
    // Fields without a value leave no trace in JSON.
    data: isResult ? (JSON.parse(JSON.stringify(data)) as Json) : (payload ?? null),
  };
}

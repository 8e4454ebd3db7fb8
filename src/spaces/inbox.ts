/** The inbox of a conversation as its event log has it. */
import type { CanonicalEvent } from '../protocol/log/events.js';
import type { ConversationKey } from '../protocol/values/ids.js';
import type { Json } from '../protocol/values/json.js';
import type { EventLog } from '../store/ports/log.js';
import type { InboxOfAgents, WaitingEvent } from './plugin/inbox/peek.js';

const PAGE_EVENTS = 200;
/** Events of a turn that are looked at, from the newest. */
const MAX_PAGES = 10;
/** Events before a turn among which the start of the conversation is looked for. */
const MAX_START_PAGES = 50;
const END = Number.MAX_SAFE_INTEGER;

type Log = Pick<EventLog, 'read'>;
type Turn = Parameters<InboxOfAgents['waiting']>[0];
type Of<Type extends CanonicalEvent['type']> = Extract<CanonicalEvent, { readonly type: Type }>;

/** The events of a log since the start of a turn, as far as they are read. */
interface Since {
  /** The newest first. */
  readonly events: readonly Of<'inbox_event'>[];
  readonly more: boolean;
  /** The newest of the turn. */
  readonly call?: Of<'model_call'>;
  /** The start of a fork in the turn. */
  readonly started?: Of<'conversation_started'>;
  /** The first that was read. */
  readonly seq: number;
}

/** Reads back from the end of the log to the start of the turn. */
export function inboxOf(log: Log): InboxOfAgents {
  return {
    waiting: async (turn) => {
      const since = await sinceStart(log, turn);
      if (since === undefined) return undefined;
      const { call, events, more } = since;
      if (await waitsForNextTurn(log, turn, since))
        return { events: events.toReversed().map(waitingEvent), more };
      // The model call that has asked reads the events before it, and the log does not have that call yet.
      if (call === undefined || call.step < turn.step) return undefined;
      const left = events.filter(({ seq }) => seq > call.seq);
      return { events: left.toReversed().map(waitingEvent), more: false };
    },
  };
}

/** Undefined where the log does not have the start of the turn. */
async function sinceStart(log: Log, turn: Turn): Promise<Since | undefined> {
  const events: Of<'inbox_event'>[] = [];
  let [call, started]: [Since['call']?, Since['started']?] = [];
  const found = (more: boolean, seq: number): Since => ({
    ...{ events, more, seq },
    ...(call === undefined ? {} : { call }),
    ...(started === undefined ? {} : { started }),
  });
  let beforeSeq = END;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const read = await log.read(keyOf(turn), { beforeSeq, limit: PAGE_EVENTS });
    for (const event of read?.events ?? []) {
      // The log lags behind the turn: these events belong to turns before it.
      if (event.type === 'turn_started')
        return event.turnId === turn.turnId ? found(false, event.seq) : undefined;
      if (event.type === 'inbox_event') events.push(event);
      if (event.type === 'model_call') call ??= event;
      if (event.type === 'conversation_started') started ??= event;
      beforeSeq = event.seq;
    }
    if (read?.more !== true) return undefined;
  }
  return found(true, beforeSeq);
}

/**
 * Whether the settings of the conversation leave events to the next turn: otherwise each model call reads them. False
 * where the settings are not found: then no event is returned that the turn may have read.
 */
async function waitsForNextTurn(log: Log, turn: Turn, { started, seq }: Since): Promise<boolean> {
  const { settings } = started ?? (await startOf(log, turn, seq)) ?? {};
  return settings?.inbox?.whileBusy === 'next_turn';
}

async function startOf(log: Log, turn: Turn, seq: number): Promise<Since['started']> {
  const key = keyOf(turn);
  const [first] = (await log.read(key, { afterSeq: 0, limit: 1 }))?.events ?? [];
  const isFirst =
    first?.type === 'conversation_started' && turn.turnId.startsWith(`turn_${first.chain}_`);
  if (isFirst) return first;
  // Opened again, or a fork: the events from before its own start are in the log as well.
  let beforeSeq = seq;
  for (let page = 0; page < MAX_START_PAGES; page += 1) {
    const read = await log.read(key, { beforeSeq, limit: PAGE_EVENTS });
    for (const event of read?.events ?? []) {
      if (event.type === 'conversation_started') return event;
      beforeSeq = event.seq;
    }
    if (read?.more !== true) return undefined;
  }
  return undefined;
}

function keyOf({ tenant, conversationId }: Turn): ConversationKey {
  return { tenant, conversationId };
}

function waitingEvent({ eventId, kind, at, payload, ...rest }: Of<'inbox_event'>): WaitingEvent {
  const { toolCallId, name, originTurnId, result } = rest;
  const data = { toolCallId, toolName: name, originRunId: originTurnId, result };
  const isResult = toolCallId !== undefined;
  return {
    ...{ eventId, type: kind, timestamp: at },
    // Fields without a value leave no trace in JSON.
    data: isResult ? (JSON.parse(JSON.stringify(data)) as Json) : (payload ?? null),
  };
}

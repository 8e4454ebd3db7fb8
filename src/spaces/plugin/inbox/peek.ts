/**
 * `peek_inbox`: the whole events that no model call of the running turn has read: those that wait for the next turn, of
 * which model calls read a preview, or, where the agent reads events while it is busy, those that the next call reads.
 */
import { z } from 'zod';
import { defineTool } from '../../../define/define-tool.js';
import type { Port } from '../../../define/tool/ports.js';
import { ToolRetry } from '../../../define/tool/retry.js';
import type { Tool } from '../../../define/tool/types.js';
import { type Json, utf8Bytes } from '../../../protocol/values/json.js';

/** An event of the inbox in the envelope of Hsafa. */
export interface WaitingEvent {
  readonly eventId: string;
  readonly type: string;
  /** ISO 8601 */
  readonly timestamp: string;
  readonly data: Json;
}

/** Events that a conversation has got and its turn has not read, as far as its event log has them. */
export interface InboxOfAgents {
  /**
   * The oldest first. `more`: there may be others between the turn's start and the first of these. Where each model call
   * reads the inbox, those that the log has behind the newest call. Undefined: the log does not have the start of the
   * turn yet, or a call that has read from the inbox.
   */
  waiting(turn: {
    readonly tenant: string;
    readonly conversationId: string;
    readonly turnId: string;
    /** The step whose model call has asked. */
    readonly step: number;
  }): Promise<Waiting | undefined>;
}

interface Waiting {
  readonly events: readonly WaitingEvent[];
  readonly more: boolean;
}

/** Workers have it. */
export const INBOX: Port<InboxOfAgents> = { id: 'inbox' };

const DEFAULT_EVENTS = 20;
const MAX_EVENTS = 100;
/** Events in one result, as JSON. */
const MAX_BYTES = 64 * 1024;

export const PEEK_INBOX: Tool = defineTool({
  name: 'peek_inbox',
  description:
    'Read the whole events that wait in your inbox. They stay there, and become your input by themselves later',
  input: z.object({
    limit: z
      .int()
      .min(1)
      .max(MAX_EVENTS)
      .default(DEFAULT_EVENTS)
      .describe('At most so many events, the oldest'),
  }),
  effects: 'none',
  // Anyone who may send events has written them.
  provenance: 'untrusted',
  metadata: { visible: false },
  run: async ({ limit }, ctx) => {
    const { events, more } = await waitingOf(ctx.port(INBOX), ctx);
    const shown = fitting(events.slice(0, limit));
    const omitted = events.length - shown.length;
    return {
      ...{ success: true, events: shown.map((event) => ({ ...event })) },
      ...(omitted === 0 ? {} : { omitted }),
      ...(more ? { more } : {}),
    };
  },
});

async function waitingOf(
  inbox: InboxOfAgents,
  { tenant, conversationId, turnId, step }: Parameters<InboxOfAgents['waiting']>[0],
): Promise<Waiting> {
  const again = (why: string) =>
    new ToolRetry({ after: '1 second', message: `The inbox cannot be read: ${why}` });
  let waiting: Waiting | undefined;
  try {
    waiting = await inbox.waiting({ tenant, conversationId, turnId, step });
  } catch (error) {
    throw again(error instanceof Error ? error.message : String(error));
  }
  // Without the start of the turn, or its last call, events that it has read already look like those that wait.
  if (waiting === undefined) throw again('the log does not have this turn yet');
  return waiting;
}

/** The oldest that fit; at least one, whose payload is bounded. */
function fitting(events: readonly WaitingEvent[]): readonly WaitingEvent[] {
  let bytes = 0;
  const cut = events.findIndex((event, index) => {
    bytes += utf8Bytes(JSON.stringify(event)) + 1;
    return index > 0 && bytes > MAX_BYTES;
  });
  return cut < 0 ? events : events.slice(0, cut);
}

/** Keeps the view of a conversation up to date: its state, the end of its log, and its stream. */
import { isAborted } from '../net/retries.js';
import type { ConversationSnapshot } from '../protocol/conversation/conversation.js';
import type { CanonicalEvent } from '../protocol/log/events.js';
import { formatCursor } from '../protocol/values/cursor.js';
import type { Api } from './net/api.js';
import type { Followed } from './net/following.js';
import { ApiError } from './net/problem.js';
import { type Frame, frameOf, readFrames } from './net/stream.js';
import type { ViewModel } from './view/model.js';

interface Page {
  readonly generation: number;
  readonly events: readonly CanonicalEvent[];
  readonly more: boolean;
}

export interface FollowedConversation {
  readonly api: Api;
  /** Path of the conversation. */
  readonly path: string;
  readonly model: ViewModel;
  /** Number of events that are read first. */
  readonly pageSize: number;
  /** The stream may open before the conversation has begun. */
  readonly mayBegin: boolean;
  /** The stream has everything: there is nothing to read before. */
  readonly isNew: boolean;
  /** Called after each change of the model. */
  readonly changed: () => void;
}

/** Reads of snapshot and log that may meet while the log is rewritten. */
const MAX_READS = 3;

/** A conversation as `follow` keeps it up to date. */
export function followedConversation(conversation: FollowedConversation): Followed {
  const { api, model, changed } = conversation;
  const show: Followed['show'] = (connection) => {
    model.connection = connection;
    changed();
  };
  return {
    timing: api.timing,
    read: (signal) => read(conversation, signal),
    stream: (options) => stream(conversation, { ...options, show }),
    show,
  };
}

/** Snapshot and end of the log, of one generation; nothing where the conversation may begin later. */
async function read(conversation: FollowedConversation, signal: AbortSignal): Promise<void> {
  const { api, path, model, pageSize, mayBegin, isNew } = conversation;
  if (isNew && model.cursor === undefined) return;
  const query = { before: 'end', limit: String(pageSize) };
  for (let tries = 1; ; tries += 1) {
    let snapshot: ConversationSnapshot;
    try {
      snapshot = await api.read<ConversationSnapshot>(path, { signal });
    } catch (error) {
      if (mayBegin && isUnknown(error) && model.cursor === undefined) return;
      throw error;
    }
    const page = await api.read<Page>(`${path}/events`, { query, signal });
    const { generation = page.generation } = snapshot as { readonly generation?: number };
    if (generation !== page.generation && tries < MAX_READS) continue;
    // The page may have left, and come again, meanwhile.
    if (isAborted(signal)) return;
    const events = page.events.toReversed();
    model.open({ snapshot, events, generation: page.generation, more: page.more });
    conversation.changed();
    return;
  }
}

function isUnknown(error: unknown): boolean {
  return error instanceof ApiError && error.problem.code === 'unknown_conversation';
}

async function stream(
  { api, path, model, mayBegin, changed }: FollowedConversation,
  { signal, heard, show }: Parameters<Followed['stream']>[0] & Pick<Followed, 'show'>,
): Promise<boolean> {
  const { cursor } = model;
  const response = await api.request(`${path}/events`, {
    query: mayBegin && cursor === undefined ? { create: 'wait' } : {},
    headers: {
      accept: 'text/event-stream',
      ...(cursor === undefined ? {} : { 'last-event-id': formatCursor(cursor) }),
    },
    signal,
  });
  if (isAborted(signal)) return true;
  show({ state: 'live' });
  return await readFrames(response, {
    ...{ silenceMs: api.timing.silenceMs, signal, frameOf },
    take: (frames) => {
      heard();
      const follows = takeFrames(model, frames);
      changed();
      return follows;
    },
  });
}

/** Runs of log events are folded together: each fold copies the transcript once. */
function takeFrames(model: ViewModel, frames: readonly Frame[]): boolean {
  let events: Extract<Frame, { type: 'event' }>[] = [];
  for (const frame of frames) {
    if (frame.type === 'event') {
      events.push(frame);
      continue;
    }
    if (!model.takeEvents(events)) return false;
    events = [];
    model.takeLive(frame.event);
  }
  return model.takeEvents(events);
}

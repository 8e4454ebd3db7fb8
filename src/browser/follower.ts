/** Keeps the view of a conversation up to date: reads its end, follows its stream, and begins again when that is lost. */
import { BackOff, isAborted, pause } from '../net/retries.js';
import type { ConversationSnapshot } from '../protocol/conversation/conversation.js';
import type { CanonicalEvent } from '../protocol/log/events.js';
import { formatCursor } from '../protocol/values/cursor.js';
import type { Api } from './net/api.js';
import { ApiError, type Problem, unreachable } from './net/problem.js';
import { type Frame, readFrames } from './net/stream.js';
import { onWake } from './net/waiting.js';
import type { ViewModel } from './view/model.js';

interface Page {
  readonly generation: number;
  readonly events: readonly CanonicalEvent[];
  readonly more: boolean;
}

export interface Followed {
  readonly api: Api;
  /** Path of the conversation. */
  readonly path: string;
  readonly model: ViewModel;
  /** Number of events that are read first. */
  readonly pageSize: number;
  /** The stream may open before the conversation has begun. */
  readonly mayBegin: boolean;
  /** Called after each change of the model. */
  readonly changed: () => void;
}

/** Reads of snapshot and log that may meet while the log is rewritten. */
const MAX_READS = 3;

/** Follows until the signal aborts or the API refuses; never throws. Resolves when it is over. */
export async function follow(
  followed: Followed,
  options: { readonly signal: AbortSignal; readonly onRead: () => void },
): Promise<void> {
  const { api, model, changed } = followed;
  const { signal, onRead } = options;
  const backOff = new BackOff(api.timing);
  let isDue = true;
  while (!signal.aborted) {
    try {
      if (isDue) await read(followed, signal);
      if (isAborted(signal)) return;
      isDue = false;
      onRead();
      isDue = !(await stream(followed, { signal, reset: () => backOff.reset() }));
      if (!isDue) throw unreachable('the stream has ended');
      await pause(backOff.next(), signal);
    } catch (error) {
      if (isAborted(signal)) return;
      const failure = error instanceof ApiError ? error : unreachable(error);
      const { problem } = failure;
      if (!failure.isPassing) {
        model.connection = { state: 'refused', problem };
        changed();
        return;
      }
      await wait(followed, { signal, problem, ms: backOff.next(failure.retryAfterMs) });
    }
  }
}

async function wait(
  { model, changed }: Followed,
  { signal, problem, ms }: { signal: AbortSignal; problem: Problem; ms: number },
): Promise<void> {
  model.connection = { state: 'waiting', retryAt: Date.now() + ms, problem };
  changed();
  await pause(ms, signal, onWake);
  if (isAborted(signal)) return;
  model.connection = { state: 'connecting' };
  changed();
}

/** Snapshot and end of the log, of one generation; nothing where the conversation may begin later. */
async function read(followed: Followed, signal: AbortSignal): Promise<void> {
  const { api, path, model, pageSize, mayBegin } = followed;
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
    followed.changed();
    return;
  }
}

function isUnknown(error: unknown): boolean {
  return error instanceof ApiError && error.problem.code === 'unknown_conversation';
}

/** Follows one connection to its end; `false` when the log has to be read anew. @throws {ApiError} */
async function stream(
  { api, path, model, mayBegin, changed }: Followed,
  { signal, reset }: { readonly signal: AbortSignal; readonly reset: () => void },
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
  if (!isAborted(signal)) model.connection = { state: 'live' };
  changed();
  const leave = new AbortController();
  const abort = (): void => leave.abort();
  signal.addEventListener('abort', abort);
  let follows = true;
  try {
    await readFrames(response, {
      silenceMs: api.timing.silenceMs,
      signal: leave.signal,
      onWake,
      take: (frames) => {
        reset();
        follows = takeFrames(model, frames);
        if (!follows) leave.abort();
        changed();
      },
    });
  } finally {
    signal.removeEventListener('abort', abort);
  }
  return follows;
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

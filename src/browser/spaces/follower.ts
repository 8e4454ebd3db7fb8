/** Keeps the view of a space up to date: its newest messages, and its stream of changes. */
import { BackOff, isAborted, pause } from '../../net/retries.js';
import type {
  Member,
  Space,
  SpaceFrame,
  SpaceMessage,
  StreamedArguments,
} from '../../protocol/spaces/spaces.js';
import { eventsOf, type SpaceEvent } from '../../protocol/spaces/tool-events.js';
import type { Api } from '../net/api.js';
import type { Followed } from '../net/following.js';
import { ApiError } from '../net/problem.js';
import { readFrames, type StreamMessage } from '../net/stream.js';
import type { SpaceMessagesPage, SpaceModel } from './model.js';

export interface FollowedSpace {
  readonly api: Api;
  /** Path of the space. */
  readonly path: string;
  readonly model: SpaceModel;
  /** Number of messages that are read at once. */
  readonly pageSize: number;
  /** Called after each change of the model. */
  readonly changed: () => void;
  /** Called with each event of the stream, in order and once, after the model has it. */
  readonly happened: (event: SpaceEvent) => void;
}

/** Between two looks for calls that no model writes any more. */
const FORGET_EVERY_MS = 5_000;

/** A space as `follow` keeps it up to date. */
export function followedSpace(space: FollowedSpace): Followed {
  const { api, model, changed } = space;
  const show: Followed['show'] = (connection) => {
    model.connection = connection;
    changed();
  };
  return {
    timing: api.timing,
    read: (signal) => read(space, signal),
    stream: (options) => stream(space, { ...options, show }),
    show,
  };
}

async function read(
  { api, path, model, pageSize, changed }: FollowedSpace,
  signal: AbortSignal,
): Promise<void> {
  const query = { limit: String(pageSize) };
  const [space, page] = await Promise.all([
    api.read<Space>(path, { signal }),
    api.read<SpaceMessagesPage>(`${path}/messages`, { query, signal }),
  ]);
  if (isAborted(signal)) return;
  model.open(space, page);
  changed();
}

async function stream(
  space: FollowedSpace,
  { signal, heard, show }: Parameters<Followed['stream']>[0] & Pick<Followed, 'show'>,
): Promise<boolean> {
  const { api, path, model, changed } = space;
  const response = await api.request(`${path}/stream`, {
    headers: { accept: 'text/event-stream', 'last-event-id': String(model.change ?? 0) },
    signal,
  });
  if (isAborted(signal)) return true;
  show({ state: 'live' });
  const ended = new AbortController();
  const members = partReader<{ readonly members: readonly Member[] }>(
    space,
    {
      path: `${path}/members`,
      take: (read) => {
        model.members = read.members;
      },
    },
    ended.signal,
  );
  // Changes of the members, and marks, have no place in the stream: those of the time without it are read.
  members();
  const take = ({ readPosition = 0 }: Space): void => {
    model.read(readPosition);
  };
  if (model.hasMark) partReader<Space>(space, { path, take }, ended.signal)();
  const forgetting = setInterval(() => {
    if (model.forgetWritten(Date.now())) changed();
  }, FORGET_EVERY_MS);
  try {
    return await readFrames(response, {
      ...{ silenceMs: api.timing.silenceMs, signal, frameOf },
      take: (frames) => {
        heard();
        const follows = frames.every((frame) => takeFrame(space, frame, members));
        changed();
        return follows;
      },
    });
  } finally {
    clearInterval(forgetting);
    ended.abort();
  }
}

/** False when the space has to be read anew. @throws {ApiError} when it is gone */
function takeFrame(
  { model, happened }: FollowedSpace,
  frame: SpaceFrame,
  readMembers: () => void,
): boolean {
  const emit = (emitted: SpaceFrame = frame): void => {
    for (const event of eventsOf(emitted)) happened(event);
  };
  switch (frame.type) {
    case 'message':
      model.take(frame.message);
      // A repeat is no event.
      if (frame.change <= (model.change ?? 0)) return true;
      model.change = frame.change;
      emit();
      return true;
    case 'tool.streaming': {
      const piece = model.write(frame.piece, Date.now());
      if (piece !== undefined) emit({ ...frame, piece });
      return true;
    }
    case 'members':
      readMembers();
      emit();
      return true;
    case 'read':
      model.read(frame.position);
      emit();
      return true;
    case 'ready':
      return true;
    case 'reset':
      emit();
      return false;
    case 'deleted': {
      emit();
      const detail = 'The space is gone, or the caller is no member of it any more';
      throw new ApiError({ status: 404, code: 'unknown_space', detail });
    }
  }
}

/** Reads a part of the space at each call, one read at a time, until it has it or the signal aborts. */
function partReader<Part>(
  { api, changed }: FollowedSpace,
  { path, take }: { readonly path: string; readonly take: (part: Part) => void },
  signal: AbortSignal,
): () => void {
  const backOff = new BackOff(api.timing);
  let isRunning = false;
  let isDue = false;
  const run = async (): Promise<void> => {
    while (isDue && !signal.aborted) {
      isDue = false;
      try {
        const part = await api.read<Part>(path, { signal });
        if (isAborted(signal)) return;
        take(part);
        backOff.reset();
        changed();
      } catch (error) {
        // A refusal ends the stream as well, and says so there.
        if (!(error instanceof ApiError) || !error.isPassing) return;
        isDue = true;
        await pause(backOff.next(error.retryAfterMs), signal);
      }
    }
  };
  return () => {
    isDue = true;
    if (isRunning) return;
    isRunning = true;
    void run().finally(() => {
      isRunning = false;
    });
  };
}

/** Undefined for states of calls, which their messages have, and for frames of a later version. */
function frameOf({ id = '', event = '', data }: StreamMessage): SpaceFrame | undefined {
  switch (event) {
    case 'message':
      return { type: event, change: Number(id), message: JSON.parse(data) as SpaceMessage };
    case 'tool.streaming':
      return { type: event, piece: JSON.parse(data) as StreamedArguments };
    case 'read':
      return { type: event, ...(JSON.parse(data) as { readonly position: number }) };
    case 'reset':
      return { type: event, change: Number(id) };
    case 'members':
    case 'deleted':
      return { type: event };
    default:
      return undefined;
  }
}

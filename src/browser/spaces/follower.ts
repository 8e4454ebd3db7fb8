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
  const members = membersReader(space, ended.signal);
  // Changes of the members have no place in the stream: those of the time without it are read.
  members();
  const forgetting = setInterval(() => {
    if (model.forgetWritten(Date.now())) changed();
  }, FORGET_EVERY_MS);
  try {
    return await readFrames(response, {
      ...{ silenceMs: api.timing.silenceMs, signal, frameOf },
      take: (frames) => {
        heard();
        const follows = frames.every((frame) => take(space, frame, members));
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
function take(
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

/** Reads the members at each call, one read at a time, until it has them or the signal aborts. */
function membersReader(
  { api, path, model, changed }: FollowedSpace,
  signal: AbortSignal,
): () => void {
  const backOff = new BackOff(api.timing);
  let isRunning = false;
  let isDue = false;
  const run = async (): Promise<void> => {
    while (isDue && !signal.aborted) {
      isDue = false;
      try {
        const read = await api.read<{ readonly members: readonly Member[] }>(`${path}/members`, {
          signal,
        });
        if (isAborted(signal)) return;
        model.members = read.members;
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
    case 'reset':
      return { type: event, change: Number(id) };
    case 'members':
    case 'deleted':
      return { type: event };
    default:
      return undefined;
  }
}

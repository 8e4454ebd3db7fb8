/** One connection to an event stream. */
import { createParser } from 'eventsource-parser';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { LiveEvent } from '../../protocol/log/live-events.js';
import { type LogCursor, parseCursor } from '../../protocol/values/cursor.js';
import { unreachable } from './problem.js';
import { onWake } from './waiting.js';

export type Frame =
  | { readonly type: 'event'; readonly cursor: LogCursor; readonly event: CanonicalEvent }
  | { readonly type: 'live'; readonly event: LiveEvent };

export interface StreamMessage {
  readonly id?: string | undefined;
  readonly event?: string | undefined;
  readonly data: string;
}

interface Reading<Taken> {
  readonly silenceMs: number;
  readonly signal: AbortSignal;
  readonly frameOf: (message: StreamMessage) => Taken | undefined;
}

/**
 * Passes on the frames of a stream, those that came together at once, until it ends, or `take` returns false; then
 * resolves to false. Messages without a frame are left out.
 * @throws {ApiError} when the connection breaks, or is silent for `silenceMs`; what `take` throws
 */
export async function readFrames<Taken>(
  response: Response,
  options: Reading<Taken> & { readonly take: (frames: readonly Taken[]) => boolean },
): Promise<boolean> {
  for await (const frames of framesOf(response, options)) if (!options.take(frames)) return false;
  return true;
}

/**
 * The frames of a stream, those that came together at once, until it ends or the signal aborts. Never an empty piece:
 * the beginning of a stream and its pings say nothing of the server's health. @throws {ApiError} as `readFrames`
 */
export async function* framesOf<Taken>(
  response: Response,
  { silenceMs, signal, frameOf }: Reading<Taken>,
): AsyncGenerator<readonly Taken[], void, undefined> {
  const reader = response.body?.getReader();
  if (reader === undefined) throw unreachable('the stream has no body');
  const silence = new AbortController();
  let heardAt = Date.now();
  // Timers of hidden pages are late, so the time is compared as well.
  const check = (): void => {
    if (Date.now() - heardAt >= silenceMs) silence.abort();
  };
  const timer = setInterval(check, Math.min(1_000, silenceMs / 4));
  const stopWaking = onWake(check);
  const decoder = new TextDecoder();
  let frames: Taken[] = [];
  const parser = createParser({
    onEvent: (message) => {
      const frame = frameOf(message);
      if (frame !== undefined) frames.push(frame);
    },
  });
  try {
    for (;;) {
      heardAt = Date.now();
      const read = await until(reader.read(), [signal, silence.signal]);
      if (read === undefined) {
        if (signal.aborted) return;
        throw unreachable(`nothing came for ${silenceMs} ms`);
      }
      if (read.done) return;
      parser.feed(decoder.decode(read.value, { stream: true }));
      if (frames.length === 0) continue;
      const came = frames;
      frames = [];
      // A caller that takes its time is no silence of the stream.
      heardAt = Number.POSITIVE_INFINITY;
      yield came;
      if (signal.aborted) return;
    }
  } finally {
    clearInterval(timer);
    stopWaking();
    void reader.cancel().catch(() => undefined);
  }
}

/** The value, or undefined when one of the signals aborts first. @throws {ApiError} */
async function until<Value>(
  value: Promise<Value>,
  signals: readonly AbortSignal[],
): Promise<Value | undefined> {
  const done = new AbortController();
  const aborted = new Promise<undefined>((resolve) => {
    for (const signal of signals)
      if (signal.aborted) resolve(undefined);
      else signal.addEventListener('abort', () => resolve(undefined), { signal: done.signal });
  });
  try {
    return await Promise.race([value, aborted]);
  } catch (error) {
    throw unreachable(error);
  } finally {
    done.abort();
  }
}

/** Undefined for frames of no use here: those of sub-agents, and those of a later version without an id. */
export function frameOf({ id = '', event = '', data }: StreamMessage): Frame | undefined {
  if (event.startsWith('live.')) return { type: 'live', event: JSON.parse(data) as LiveEvent };
  const cursor = event.includes('.') ? undefined : parseCursor(id);
  return cursor === undefined
    ? undefined
    : { type: 'event', cursor, event: JSON.parse(data) as CanonicalEvent };
}

/** The events of one turn, over lost connections. */
import { BackOff, isAborted, pause } from '../net/retries.js';
import { formatCursor, type LogCursor } from '../protocol/values/cursor.js';
import type { Api } from './net/api.js';
import { ApiError } from './net/problem.js';
import { type Frame, frameOf, framesOf } from './net/stream.js';
import { onWake } from './net/waiting.js';

export type TurnFrame = Frame;

export interface FollowTurnOptions {
  /** The place of the last event that the page has. @defaultValue the beginning of the turn */
  readonly after?: LogCursor | undefined;
  /** Ends the loop. Leaving the loop ends the connection, too. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Yields the events of the turn, over lost connections, up to the one that ends it. Behind `log_rewritten` they come
 * again, under another generation; the page drops those that it has.
 * @throws {ApiError} a refusal that trying again does not mend: `unknown_turn` where the turn never was, the new log
 *   does not have it, or its conversation is deleted
 */
export async function* followTurn(
  api: Api,
  turnId: string,
  options: FollowTurnOptions = {},
): AsyncGenerator<TurnFrame, void, undefined> {
  const left = new AbortController();
  const { signal } = left;
  const leave = (): void => left.abort();
  if (options.signal?.aborted === true) leave();
  options.signal?.addEventListener('abort', leave);
  const backOff = new BackOff(api.timing);
  let { after } = options;
  try {
    while (!isAborted(signal)) {
      let retryAfterMs: number | undefined;
      try {
        const response = await api.request(`/v1/turns/${encodeURIComponent(turnId)}/stream`, {
          query: { tenant: undefined },
          headers: {
            accept: 'text/event-stream',
            ...(after === undefined ? {} : { 'last-event-id': formatCursor(after) }),
          },
          signal,
        });
        // Behind its end.
        if (response.status === 204) return;
        const { silenceMs } = api.timing;
        for await (const frames of framesOf(response, { silenceMs, signal, frameOf })) {
          backOff.reset();
          for (const frame of frames) {
            if (frame.type === 'event') after = frame.cursor;
            yield frame;
            const isOver = frame.type === 'event' && frame.event.type === 'turn_ended';
            if (isOver || isAborted(signal)) return;
          }
        }
      } catch (error) {
        if (isAborted(signal)) return;
        if (!(error instanceof ApiError) || !error.isPassing) throw error;
        ({ retryAfterMs } = error);
      }
      await pause(backOff.next(retryAfterMs), signal, onWake);
    }
  } finally {
    options.signal?.removeEventListener('abort', leave);
    leave();
  }
}

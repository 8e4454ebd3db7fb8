/** Keeps something up to date over lost connections: reads it, follows its stream, and begins again when that is lost. */
import { BackOff, isAborted, pause } from '../../net/retries.js';
import { ApiError, type Problem, unreachable } from './problem.js';
import { onWake, type Timing } from './waiting.js';

export type Connection =
  /** Not opened, or left. */
  | { readonly state: 'off' }
  | { readonly state: 'connecting' }
  | { readonly state: 'live' }
  /** Lost; the next try is at `retryAt` (milliseconds since 1970). The view keeps what it has. */
  | { readonly state: 'waiting'; readonly retryAt: number; readonly problem: Problem }
  /** The API refuses, and trying again does not help: `open` tries once more. */
  | { readonly state: 'refused'; readonly problem: Problem };

export interface Followed {
  readonly timing: Timing;
  /** Reads the state from which the stream goes on. @throws {ApiError} */
  readonly read: (signal: AbortSignal) => Promise<void>;
  /**
   * Follows one connection to its end; `false` when the state has to be read anew. `heard` is called with each piece of
   * the stream. @throws {ApiError}
   */
  readonly stream: (options: {
    readonly signal: AbortSignal;
    readonly heard: () => void;
  }) => Promise<boolean>;
  /** Shows the state of the connection. */
  readonly show: (connection: Connection) => void;
}

/** Follows until the signal aborts or the API refuses; never throws. Resolves when it is over. */
export async function follow(
  followed: Followed,
  options: { readonly signal: AbortSignal; readonly onRead: () => void },
): Promise<void> {
  const { timing, read, stream, show } = followed;
  const { signal, onRead } = options;
  const backOff = new BackOff(timing);
  let isDue = true;
  while (!signal.aborted) {
    try {
      if (isDue) await read(signal);
      if (isAborted(signal)) return;
      isDue = false;
      onRead();
      isDue = !(await stream({ signal, heard: () => backOff.reset() }));
      if (!isDue) throw unreachable('the stream has ended');
      await pause(backOff.next(), signal);
    } catch (error) {
      if (isAborted(signal)) return;
      const failure = error instanceof ApiError ? error : unreachable(error);
      const { problem } = failure;
      if (!failure.isPassing) {
        show({ state: 'refused', problem });
        return;
      }
      const ms = backOff.next(failure.retryAfterMs);
      show({ state: 'waiting', retryAt: Date.now() + ms, problem });
      await pause(ms, signal, onWake);
      if (!isAborted(signal)) show({ state: 'connecting' });
    }
  }
}

/** A front end that follows one conversation by its event stream, over restarts of the API process. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventStream, Frame } from './api.js';

const AGAIN_MS = 25;

export class Follower {
  readonly #open: (lastEventId?: string) => Promise<EventStream>;
  /** Frames of closed connections. */
  readonly #before: Frame[] = [];
  readonly #following: Promise<void>;
  #stream: EventStream | undefined;
  #connections = 0;
  #stopped = false;

  /** Starts at once, from the first event, and retries while the conversation does not exist. */
  constructor(open: (lastEventId?: string) => Promise<EventStream>) {
    this.#open = open;
    this.#following = this.#follow();
  }

  /** The recorded events in order of arrival, without live events. */
  get recorded(): readonly Frame[] {
    const frames = [...this.#before, ...(this.#stream?.frames ?? [])];
    return frames.filter(({ id }) => id !== undefined);
  }

  get connections(): number {
    return this.#connections;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#stream?.close();
    await this.#following;
  }

  #isStopped(): boolean {
    return this.#stopped;
  }

  async #follow(): Promise<void> {
    while (!this.#stopped) {
      const stream = await this.#open(this.recorded.at(-1)?.id).catch(() => undefined);
      if (stream === undefined) {
        await sleep(AGAIN_MS);
        continue;
      }
      this.#connections += 1;
      this.#stream = stream;
      // A stream opened after `stop` would never end.
      if (this.#isStopped()) stream.close();
      await stream.ended;
      this.#before.push(...stream.frames);
      this.#stream = undefined;
    }
  }
}

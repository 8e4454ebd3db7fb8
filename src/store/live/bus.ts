/**
 * The transport below a live channel: carries lines of text between the processes that share a store. Any line may be
 * lost; lines of one sender arrive in order.
 */

/** `live`: messages for subscribers. `watch`: interests, for publishers. `ask`: publishers request the interests. */
export type Topic = 'live' | 'watch' | 'ask';

export interface Line {
  readonly topic: Topic;
  /** Without a line break. */
  readonly text: string;
}

export interface BusEvents {
  /** A line of another process, or one of this process that came back. */
  readonly onLine: (line: Line) => void;
  /** Connected, for the first time or again; lines sent until then were lost, in both directions. */
  readonly onConnected: () => void;
  /** Sent for this process when it ends without `close`, by a bus that notices. */
  readonly will: Line;
}

/** No call throws. Nothing in a bus keeps a process alive. */
export interface Bus {
  /** Receives the topic from now on. The first call connects; repeats are safe. */
  listen(topic: Topic): void;
  /** Sends the lines to every process that listens. Drops them while there is no connection. */
  send(lines: readonly Line[]): void;
  /** Sends the lines that still wait, and disconnects. */
  close(): Promise<void>;
}

/**
 * Live workers and the agents that they serve: part of the event log port. Workers announce themselves every few
 * seconds, by the clock of the store. So clients learn which agents no worker serves any more, and workers learn
 * whether all of them have the same definitions, and which of them was lost just now.
 */

/** The time (ISO 8601) since when no worker serves an agent, by the agent's name. */
export type GoneAgents = ReadonlyMap<string, string>;

export interface AnnouncedWorker {
  readonly id: string;
  /** A digest of its definitions, by the name of each agent that it serves. */
  readonly agents: Readonly<Record<string, string>>;
}

export interface WorkerPresence {
  /** Records that the worker is alive now, and serves these agents now. Repeated every `PRESENCE_INTERVAL_MS`. */
  announceWorker(worker: AnnouncedWorker): Promise<void>;
  /** Records that the worker has stopped. Safe to repeat, and for one that was never announced. */
  withdrawWorker(id: string): Promise<void>;
  /** Workers that were announced within `WORKER_LIVE_MS`. */
  liveWorkers(): Promise<readonly AnnouncedWorker[]>;
  /**
   * Records that an announced worker is still alive: a small write. No effect for one that was not announced, or has
   * stopped.
   */
  beatWorker(id: string): Promise<void>;
  /** Ids of live workers that neither announced nor beat for at least so many milliseconds, and have not stopped. */
  silentWorkers(forMs: number): Promise<readonly string[]>;
  /**
   * The published agents that no worker has served for `AGENT_GONE_MS`, with the time (ISO 8601) since when. Empty if
   * there is no worker at all.
   */
  goneAgents(): Promise<GoneAgents>;
}

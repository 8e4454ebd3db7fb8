/**
 * Which workers are there, and what they serve: part of the event log port. Workers announce themselves every few seconds, by the
 * clock of the store. So clients know of agents that no worker serves any more, and workers whether all of them have the same definitions,
 * and which of them was lost just now.
 */

/** Since when no worker serves them (ISO 8601), by the name of each agent that is gone. */
export type GoneAgents = ReadonlyMap<string, string>;

export interface AnnouncedWorker {
  readonly id: string;
  /** A digest of its definitions, by the name of each agent that it serves. */
  readonly agents: Readonly<Record<string, string>>;
}

export interface WorkerPresence {
  /** The worker is there now, and serves these agents now. Repeated every `PRESENCE_INTERVAL_MS`. */
  announceWorker(worker: AnnouncedWorker): Promise<void>;
  /** The worker has stopped. Safe to repeat, and for one that was never announced. */
  withdrawWorker(id: string): Promise<void>;
  /** Those that were announced within `WORKER_LIVE_MS`. */
  liveWorkers(): Promise<readonly AnnouncedWorker[]>;
  /** An announced worker is still there: a small write. Nothing happens for one that was not announced, or has stopped. */
  beatWorker(id: string): Promise<void>;
  /** Ids of live workers that have been silent for so many milliseconds at least: without having stopped, they neither announced nor beat. */
  silentWorkers(forMs: number): Promise<readonly string[]>;
  /**
   * Since when (ISO 8601) no worker serves them, by the name of each published agent that is gone for `AGENT_GONE_MS`; empty where there is
   * no worker at all.
   */
  goneAgents(): Promise<GoneAgents>;
}

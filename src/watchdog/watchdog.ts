/** Sees a main thread that is blocked, from another thread, and says in what. For the processes of workers and of the API. */
import { Worker } from 'node:worker_threads';
import { register } from './operations.js';
import type { BlockCounts } from './register.js';

export interface WatchdogOptions {
  /** Of the lines, as in those of the process. */
  readonly name: string;
  /** The least level that is written. @defaultValue "info" */
  readonly level?: string;
  /** How long the main thread may be blocked unsaid. @defaultValue 2 s */
  readonly afterMs?: number;
}

/** What the thread is started with. */
export interface ThreadData {
  readonly memory: SharedArrayBuffer;
  readonly name: string;
  readonly level: string;
  readonly afterMs: number;
  readonly lookMs: number;
}

const AFTER_MS = 2_000;
/** Ten looks until a line is written: few enough to cost nothing, many enough that a busy machine is not taken for a block. */
const LOOKS = 10;

export interface Watchdog {
  /** Since the process began; for metrics. */
  readonly counts: BlockCounts;
  stop(): Promise<void>;
}

/**
 * Starts to watch the main thread. While it is blocked, a line of level `error` (`code: "main_thread_blocked"`) says for how long and
 * what is under way, newest first; when it goes on, another says how long it was in all. Neither keeps the process alive.
 */
export function startWatchdog(options: WatchdogOptions): Watchdog {
  const { name, level = 'info', afterMs = AFTER_MS } = options;
  const lookMs = Math.max(10, Math.round(afterMs / LOOKS));
  const workerData: ThreadData = { memory: register.memory, name, level, afterMs, lookMs };
  const thread = new Worker(new URL('./thread.js', import.meta.url), { workerData });
  thread.unref();
  // A watchdog that fails must not take what it watches with it.
  thread.on('error', () => undefined);
  const timer = setInterval(() => {
    register.beat();
  }, lookMs).unref();
  return {
    get counts() {
      return register.counts;
    },
    stop: async () => {
      clearInterval(timer);
      await thread.terminate();
    },
  };
}

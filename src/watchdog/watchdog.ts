/**
 * Detects a blocked main thread from another thread, and logs the operations under way. For the processes of workers
 * and of the API.
 */
import { Worker } from 'node:worker_threads';
import type { LineStyle } from '../logs/line-style.js';
import { register } from './operations.js';
import type { BlockCounts } from './register.js';

export interface WatchdogOptions {
  /** Name of the log lines; the same as in the other lines of the process. */
  readonly name: string;
  /** The least level that is written. @defaultValue "info" */
  readonly level?: string;
  /** @defaultValue JSON */
  readonly style?: LineStyle;
  /** Milliseconds for which the main thread may be blocked before a line is written. @defaultValue 2000 */
  readonly afterMs?: number;
}

/** The data that the thread is started with. */
export interface ThreadData {
  readonly memory: SharedArrayBuffer;
  readonly name: string;
  readonly level: string;
  readonly style: LineStyle;
  readonly afterMs: number;
  readonly checkMs: number;
}

const AFTER_MS = 2_000;
const JSON_LINES: LineStyle = { form: 'json', colours: false };
/**
 * Checks until a line is written: few enough to cost nothing, many enough that a busy machine is not taken for a block.
 */
const CHECKS = 10;

export interface Watchdog {
  /** Blocks since the process began; for metrics. */
  readonly counts: BlockCounts;
  stop(): Promise<void>;
}

/**
 * Starts to watch the main thread. While it is blocked, a line of level `error` (`code: "main_thread_blocked"`) says
 * for how long and which operations are under way, newest first; when it continues, another line says how long the
 * whole block was. Neither the thread nor its timer keeps the process alive.
 */
export function startWatchdog(options: WatchdogOptions): Watchdog {
  const { name, level = 'info', style = JSON_LINES, afterMs = AFTER_MS } = options;
  const checkMs = Math.max(10, Math.round(afterMs / CHECKS));
  const { memory } = register;
  const workerData: ThreadData = { memory, name, level, style, afterMs, checkMs };
  const thread = new Worker(new URL('./thread.js', import.meta.url), { workerData });
  thread.unref();
  // A watchdog that fails must not end the process that it watches.
  thread.on('error', () => undefined);
  const timer = setInterval(() => {
    register.beat();
  }, checkMs).unref();
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

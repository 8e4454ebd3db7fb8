/** The thread that watches. An event loop of its own lets it write lines while the main thread is blocked. */
import { workerData } from 'node:worker_threads';
import { pino } from 'pino';
import { stderrLines } from '../logs/destination.js';
import { Register } from './register.js';
import type { ThreadData } from './watchdog.js';

const { memory, name, level, style, afterMs, checkMs } = workerData as ThreadData;
const register = new Register(memory);
// Synchronously, to standard error, where the main thread's own lines go.
const log = pino({ name, level }, stderrLines(style));

let beats = register.beats;
/** Checks without a beat: counted, not timed, so that a machine that slept is not taken for a loop. */
let silent = 0;
let isReported = false;

setInterval(() => {
  const now = register.beats;
  if (now !== beats) {
    if (isReported) {
      const blockedMs = silent * checkMs;
      register.count(blockedMs);
      const { counts } = register;
      log.warn(
        { ...counts, lastMs: blockedMs },
        `the main thread runs again, after ${blockedMs} ms`,
      );
    }
    beats = now;
    silent = 0;
    isReported = false;
    return;
  }
  silent += 1;
  if (isReported || silent * checkMs < afterMs) return;
  isReported = true;
  const underWay = register.underWay();
  log.error(
    { code: 'main_thread_blocked', blockedMs: silent * checkMs, underWay: underWay.slice(0, 10) },
    `the main thread has been blocked for ${silent * checkMs} ms, ${saying(underWay)}`,
  );
}, checkMs);

function saying(underWay: readonly string[]): string {
  const [newest, ...others] = underWay;
  if (newest === undefined) return 'with nothing under way that is known';
  return others.length === 0 ? `in ${newest}` : `in ${newest}, or one of ${others.length} others`;
}

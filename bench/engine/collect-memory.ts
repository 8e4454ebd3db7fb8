/**
 * Loaded into the engine's worker with `--import`: on SIGUSR2 every thread collects its garbage, and the process
 * appends its resident memory to a file. V8 lets a heap grow before it collects, by tens of megabytes from one minute
 * to the next; what remains after a collection is what the process holds.
 */
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { BroadcastChannel, isMainThread } from 'node:worker_threads';
import { COLLECTED_FILE } from './collected.js';

/** For other threads, which do not answer: a collection takes some 50 ms. */
const OTHER_THREADS_MS = 500;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as NodeJS.GCFunction;
const channel = new BroadcastChannel('collect-memory');
channel.unref();

function collectAll(): void {
  // The second collection frees what finalizers of the first released.
  for (let times = 0; times < 2; times += 1) collect({ type: 'major', flavor: 'last-resort' });
}

const file = process.env[COLLECTED_FILE];
if (isMainThread && file !== undefined)
  process.on('SIGUSR2', () => {
    channel.postMessage('collect');
    collectAll();
    void sleep(OTHER_THREADS_MS).then(() => {
      appendFileSync(file, `${process.memoryUsage.rss()}\n`);
    });
  });
else if (!isMainThread) channel.onmessage = collectAll;

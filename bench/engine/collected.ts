/** Resident memory of the engine's worker after a collection of its garbage (`collect-memory.ts`). */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** The environment variable that names the file of the results. */
export const COLLECTED_FILE = 'COLLOQUY_BENCH_COLLECTED';

const GIVE_UP_MS = 30_000;

/** The environment of a worker that can be asked. */
export function collectable(dataDir: string): NodeJS.ProcessEnv {
  const probe = fileURLToPath(new URL('./collect-memory.js', import.meta.url));
  return { NODE_OPTIONS: `--import ${probe}`, [COLLECTED_FILE]: fileIn(dataDir) };
}

/** Bytes. @throws when the worker does not answer */
export async function collectedRss(pid: number | undefined, logFile: string): Promise<number> {
  if (pid === undefined) throw new Error('there is no worker');
  const file = fileIn(dirname(logFile));
  const before = linesOf(file).length;
  process.kill(pid, 'SIGUSR2');
  for (const giveUpAt = Date.now() + GIVE_UP_MS; Date.now() < giveUpAt; await sleep(20)) {
    const bytes = linesOf(file)[before];
    if (bytes !== undefined) return Number(bytes);
  }
  throw new Error('the worker did not collect its garbage');
}

function fileIn(dataDir: string): string {
  return join(dataDir, 'collected-memory');
}

function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').slice(0, -1);
  } catch {
    return [];
  }
}

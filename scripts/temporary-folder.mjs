// The folder for temporary files of the tests: one in memory, where there is room.
//
// Temporal, sqlite and Postgres wait for the disk at each commit, which takes a quarter of the time of a test. A killed
// process loses nothing of a folder in memory. TMPDIR, where it is set, decides instead.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const IN_MEMORY = '/dev/shm';
/** Several times what the tests keep at once: databases, and installed packages of 0.4 GB each. */
const NEEDED_BYTES = 8 * 1024 ** 3;

export function temporaryFolder() {
  return process.env.TMPDIR === undefined && isUsable() ? IN_MEMORY : tmpdir();
}

/** Whether the folder and the memory have room, and programs can be started from the folder. */
function isUsable() {
  try {
    const { bsize, bavail } = statfsSync(IN_MEMORY);
    const [, kilobytes = '0'] =
      /^MemAvailable: +(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8')) ?? [];
    return (
      bsize * bavail >= NEEDED_BYTES &&
      Number(kilobytes) * 1024 >= 2 * NEEDED_BYTES &&
      startsPrograms()
    );
  } catch {
    return false;
  }
}

function startsPrograms() {
  const folder = mkdtempSync(join(IN_MEMORY, 'colloquy-probe-'));
  try {
    const program = join(folder, 'program');
    writeFileSync(program, '#!/bin/sh\nexit 0\n', { mode: 0o700 });
    execFileSync(program);
    return true;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A folder of the test's own, removed when it ends. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { onTestFinished } from 'vitest';

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'colloquy-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** The same, open to every user of the machine: a Postgres that root starts runs as another. */
export function temporaryFolderForAll(): string {
  const folder = temporaryFolder();
  chmodSync(folder, 0o755);
  return folder;
}

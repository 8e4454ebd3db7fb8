/** Stores of an event log that can be backed up and restored: a file, and a Postgres with its data folder. */
import { execFileSync } from 'node:child_process';
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';
import { startPostgres } from '../../../examples/demo/postgres.js';
import { temporaryFolder, temporaryFolderForAll } from '../temporary.js';

export interface RestorableStore {
  readonly eventLog: string | { readonly url: string };
  /** Keeps the present content. */
  backUp(): Promise<void>;
  /** Restores the backup; no process may have the store open. */
  restore(): Promise<void>;
}

export function restorableSqlite(): Promise<RestorableStore> {
  const folder = temporaryFolder();
  const [file, backup] = [join(folder, 'log.db'), join(folder, 'backup.db')];
  return Promise.resolve({
    eventLog: file,
    backUp: () => {
      const copying = new DatabaseSync(file);
      copying.exec(`VACUUM INTO '${backup}'`);
      copying.close();
      return Promise.resolve();
    },
    restore: () => {
      for (const ending of ['', '-wal', '-shm']) rmSync(file + ending, { force: true });
      renameSync(backup, file);
      return Promise.resolve();
    },
  });
}

export async function restorablePostgres(): Promise<RestorableStore> {
  const folder = temporaryFolderForAll();
  const server = await startPostgres({ folder, isThrowAway: true });
  onTestFinished(() => server.stop());
  const [data, backup] = [join(folder, 'data'), join(folder, 'backup')];
  const whileStopped = async (work: () => void): Promise<void> => {
    await server.stop();
    work();
    await server.startAgain();
  };
  return {
    eventLog: { url: server.url },
    backUp: () =>
      // With its owner, who is not the user of the tests where they run as root.
      whileStopped(() => execFileSync('cp', ['-a', data, backup])),
    restore: () =>
      whileStopped(() => {
        rmSync(data, { recursive: true });
        renameSync(backup, data);
      }),
  };
}

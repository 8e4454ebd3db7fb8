/** A Postgres of a test's own: its data lies in a temporary folder and is gone with the run. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PostgresServer, startPostgres } from '../../../examples/demo/postgres.js';

export async function startTestPostgres(): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'colloquy-postgres-'));
  const remove = (): void => {
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', remove);
  return await startPostgres({ folder, isThrowAway: true });
}

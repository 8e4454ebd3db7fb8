/** Tables of Postgres as older versions made and filled them. */
import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import type { Client } from 'pg';
import { foldView } from '../../src/core/view.js';
import { type CanonicalEvent, turnIdOf } from '../../src/protocol/events.js';

const ignore = (): void => undefined;

/** The next steps of a schema, which is made when there is none. */
export async function takeSteps(client: Client, schema: string, count: number): Promise<void> {
  await runner({
    dbClient: client,
    dir: fileURLToPath(new URL('../../src/store/postgres/migrations/', import.meta.url)),
    direction: 'up',
    count,
    schema,
    createSchema: true,
    migrationsTable: 'migrations',
    logger: { debug: ignore, info: ignore, warn: ignore, error: ignore },
  });
}

/** Into tables of two steps, by conversation id. */
export async function storeLogs(
  client: Client,
  schema: string,
  logs: Readonly<Record<string, readonly CanonicalEvent[]>>,
): Promise<void> {
  for (const [id, events] of Object.entries(logs)) {
    const view = events.reduce(foldView, undefined);
    if (view === undefined) throw new Error(`the log of "${id}" is empty`);
    await client.query(
      `INSERT INTO ${schema}.conversations
         (tenant, conversation_id, generation, last_seq, run_id, history_length, agent, status, snapshot)
       VALUES ('default', $1, 1, $2, 'run-a', 9, $3, $4, $5)`,
      [id, events.length, view.agent, view.status, JSON.stringify({ ...view, generation: 1 })],
    );
    for (const event of events)
      await client.query(
        `INSERT INTO ${schema}.events VALUES ('default', $1, 1, $2, $3, $4, 'run-a', 'h', $5)`,
        [id, event.seq, event.type, turnIdOf(event) ?? null, JSON.stringify(event)],
      );
  }
}

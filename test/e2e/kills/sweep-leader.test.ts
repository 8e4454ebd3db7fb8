/** Two workers on one Postgres: one leads the sweep, and the other takes over when that one is killed. */
import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { PostgresServer } from '../../../examples/demo/postgres.js';
import { startTestPostgres } from '../../support/networks/postgres-server.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';
import { startWorld, type World } from '../support/world.js';

let postgres: PostgresServer;
let world: World;
let database: Client;
beforeAll(async () => {
  postgres = await startTestPostgres();
  world = await startWorld({ env: { COLLOQUY_DATABASE_URL: postgres.url } });
  database = new Client({ connectionString: postgres.url });
  await database.connect();
});
afterAll(async () => {
  await database.end();
  await world.stop();
  await postgres.stop();
});

/** The holder of the sweep lease; undefined when it has expired. */
async function leader(): Promise<string | undefined> {
  const { rows } = await database.query<{ holder: string }>(
    "SELECT holder FROM colloquy.leases WHERE name = 'sweep:colloquy' AND expires_at > now()",
  );
  return rows[0]?.holder;
}

it('a killed leader is replaced by the other worker within half a minute, which stores events without any hint', {
  ...promise('G234'),
}, async () => {
  const talk = world.talk('unheard-of');
  await talk.begin('support', 'refund');
  await talk.waitingCalls(3);
  // Waits for the result of the one call that needs no answer.
  const before = await until('nothing more is to come', () => talk.events(), {
    holds: (events) => events.at(-1)?.type === 'tool_result',
  });
  const first = await until('the only worker leads', leader);
  const killed = world.stack.worker();
  await world.stack.startWorker();
  expect(await leader()).toBe(first);

  await killed.kill();
  // Simulates the loss of all hints: the store has no trace of the conversation, until a check of a worker finds it.
  await database.query('BEGIN');
  const deleted = [];
  for (const table of ['events', 'pending_calls', 'conversations'])
    deleted.push(
      await database.query(`DELETE FROM colloquy.${table} WHERE conversation_id = $1`, [talk.id]),
    );
  await database.query('COMMIT');
  expect(deleted.map(({ rowCount }) => rowCount)).toEqual([before.length, 3, 1]);
  const next = await until('another leads', leader, {
    holds: (holder) => holder !== undefined && holder !== first,
  });
  await until('the log is back', () => talk.events(), {
    holds: (events) => events.length === before.length,
  });
  expect(await talk.events()).toEqual(before);
  expect(await leader()).toBe(next);
});

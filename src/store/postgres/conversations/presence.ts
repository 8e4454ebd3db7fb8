/**
 * Rows of workers in Postgres, and the agents that they serve. By the clock of the database, because those of the
 * machines may differ.
 */

import type { AgentManifest } from '../../../protocol/conversation/agents.js';
import {
  AGENT_GONE_MS,
  FORGET_WORKER_MS,
  WORKER_LIVE_MS,
} from '../../../protocol/limits/service-limits.js';
import type { PublishedAgent } from '../../plans/presence.js';
import { textIn } from '../../plans/rows.js';
import type { AnnouncedWorker, GoneAgents } from '../../ports/presence.js';
import { type PostgresDatabase } from '../database/database.js';

export async function announceWorker(
  database: PostgresDatabase,
  { id, agents }: AnnouncedWorker,
): Promise<void> {
  await database.run(
    `INSERT INTO ${database.table('workers')} (id, agents, seen_at) VALUES ($1, $2, clock_timestamp())
     ON CONFLICT (id) DO UPDATE SET agents = excluded.agents, seen_at = excluded.seen_at`,
    id,
    JSON.stringify(agents),
  );
  // Locked in the order of names, so that two workers never deadlock.
  await database.run(
    `UPDATE ${database.table('agents')} AS agent SET published_at = clock_timestamp()
     FROM (SELECT name FROM ${database.table('agents')} WHERE name = ANY($1::text[]) ORDER BY name FOR UPDATE) AS served
     WHERE agent.name = served.name`,
    Object.keys(agents),
  );
  await database.run(
    `DELETE FROM ${database.table('workers')} WHERE seen_at < clock_timestamp() - $1 * interval '1 millisecond'`,
    FORGET_WORKER_MS,
  );
}

export async function withdrawWorker(database: PostgresDatabase, id: string): Promise<void> {
  await database.run(`DELETE FROM ${database.table('workers')} WHERE id = $1`, id);
}

export async function readLiveWorkers(
  database: PostgresDatabase,
): Promise<readonly AnnouncedWorker[]> {
  const rows = await database.all(
    `SELECT id, agents FROM ${database.table('workers')}
     WHERE seen_at > clock_timestamp() - $1 * interval '1 millisecond' ORDER BY id`,
    WORKER_LIVE_MS,
  );
  return rows.map((row) => ({
    id: textIn(row, 'id'),
    agents: JSON.parse(textIn(row, 'agents')) as AnnouncedWorker['agents'],
  }));
}

export async function beatWorker(database: PostgresDatabase, id: string): Promise<void> {
  await database.run(
    `UPDATE ${database.table('workers')} SET seen_at = clock_timestamp() WHERE id = $1`,
    id,
  );
}

export async function readSilentWorkers(
  database: PostgresDatabase,
  forMs: number,
): Promise<readonly string[]> {
  const rows = await database.all(
    `SELECT id FROM ${database.table('workers')}
     WHERE seen_at > clock_timestamp() - $1 * interval '1 millisecond'
       AND seen_at <= clock_timestamp() - $2 * interval '1 millisecond' ORDER BY id`,
    WORKER_LIVE_MS,
    forMs,
  );
  return rows.map((row) => textIn(row, 'id'));
}

/** Sorted by name. */
export async function readAgents(database: PostgresDatabase): Promise<readonly PublishedAgent[]> {
  const gone = await readGoneAgents(database);
  const rows = await database.all(
    `SELECT name, manifest FROM ${database.table('agents')} ORDER BY name`,
  );
  return rows.map((row) => {
    const goneSince = gone.get(textIn(row, 'name'));
    const manifest = JSON.parse(textIn(row, 'manifest')) as AgentManifest;
    return goneSince === undefined ? { manifest } : { manifest, goneSince };
  });
}

export async function readGoneAgents(database: PostgresDatabase): Promise<GoneAgents> {
  const rows = await database.all(
    `SELECT name, to_char(published_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS since
     FROM ${database.table('agents')}
     WHERE published_at < clock_timestamp() - $1 * interval '1 millisecond'
       AND EXISTS (SELECT 1 FROM ${database.table('workers')}
         WHERE seen_at > clock_timestamp() - $2 * interval '1 millisecond')`,
    AGENT_GONE_MS,
    WORKER_LIVE_MS,
  );
  return new Map(rows.map((row) => [textIn(row, 'name'), textIn(row, 'since')]));
}

/** Rows of workers in the sqlite event log, and the agents that they serve. Synchronous; callers wrap them. */

import type { AgentManifest } from '../../protocol/conversation/agents.js';
import {
  AGENT_GONE_MS,
  FORGET_WORKER_MS,
  WORKER_LIVE_MS,
} from '../../protocol/limits/service-limits.js';
import type { PublishedAgent } from '../plans/presence.js';
import { textIn } from '../plans/rows.js';
import type { AnnouncedWorker, GoneAgents } from '../ports/presence.js';
import type { SqliteDatabase } from './database/database.js';

/** To be called inside a write transaction. */
export function announceWorker(database: SqliteDatabase, { id, agents }: AnnouncedWorker): void {
  const nowMs = Date.now();
  database.run(
    `INSERT INTO workers (id, agents, seen_at_ms) VALUES (?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET agents = excluded.agents, seen_at_ms = excluded.seen_at_ms`,
    id,
    JSON.stringify(agents),
    nowMs,
  );
  database.run(
    'UPDATE agents SET published_at = ? WHERE name IN (SELECT value FROM json_each(?))',
    new Date(nowMs).toISOString(),
    JSON.stringify(Object.keys(agents)),
  );
  database.run('DELETE FROM workers WHERE seen_at_ms < ?', nowMs - FORGET_WORKER_MS);
}

/** To be called inside a write transaction. */
export function withdrawWorker(database: SqliteDatabase, id: string): void {
  database.run('DELETE FROM workers WHERE id = ?', id);
}

export function readLiveWorkers(database: SqliteDatabase): readonly AnnouncedWorker[] {
  return database
    .all(
      'SELECT id, agents FROM workers WHERE seen_at_ms > ? ORDER BY id',
      Date.now() - WORKER_LIVE_MS,
    )
    .map((row) => ({
      id: textIn(row, 'id'),
      agents: JSON.parse(textIn(row, 'agents')) as AnnouncedWorker['agents'],
    }));
}

/** To be called inside a write transaction. */
export function beatWorker(database: SqliteDatabase, id: string): void {
  database.run('UPDATE workers SET seen_at_ms = ? WHERE id = ?', Date.now(), id);
}

export function readSilentWorkers(database: SqliteDatabase, forMs: number): readonly string[] {
  const nowMs = Date.now();
  return database
    .all(
      'SELECT id FROM workers WHERE seen_at_ms > ? AND seen_at_ms <= ? ORDER BY id',
      nowMs - WORKER_LIVE_MS,
      nowMs - forMs,
    )
    .map((row) => textIn(row, 'id'));
}

/** Sorted by name. */
export function readAgents(database: SqliteDatabase): readonly PublishedAgent[] {
  const gone = readGoneAgents(database);
  return database.all('SELECT name, manifest FROM agents ORDER BY name').map((row) => {
    const goneSince = gone.get(textIn(row, 'name'));
    const manifest = JSON.parse(textIn(row, 'manifest')) as AgentManifest;
    return goneSince === undefined ? { manifest } : { manifest, goneSince };
  });
}

export function readGoneAgents(database: SqliteDatabase): GoneAgents {
  const nowMs = Date.now();
  const rows = database.all(
    `SELECT name, published_at FROM agents WHERE published_at < ?
     AND EXISTS (SELECT 1 FROM workers WHERE seen_at_ms > ?)`,
    new Date(nowMs - AGENT_GONE_MS).toISOString(),
    nowMs - WORKER_LIVE_MS,
  );
  return new Map(rows.map((row) => [textIn(row, 'name'), textIn(row, 'published_at')]));
}

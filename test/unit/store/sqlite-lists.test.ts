import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { foldView } from '../../../src/core/view.js';
import { type CanonicalEvent, turnIdOf } from '../../../src/protocol/events.js';
import { listQuery } from '../../../src/store/list-query.js';
import { SqliteDatabase } from '../../../src/store/sqlite/database.js';
import { SQLITE } from '../../../src/store/sqlite/lists.js';
import { MESSAGES } from '../../../src/store/sqlite/pending.js';
import { TURN_EVENTS } from '../../../src/store/sqlite/read.js';
import { MIGRATIONS } from '../../../src/store/sqlite/schema.js';
import { openSqliteEventLog } from '../../../src/store/sqlite.js';
import { logsOfAnn } from '../../support/asked-logs.js';
import { LIST_FILTERS } from '../../support/list-filters.js';
import { asks, closes, stamped, started, suspends, turn } from '../../support/log-events.js';
import { temporaryFolder } from '../../support/temporary.js';

/** Rows as the version with the first two steps of the schema wrote them. */
function oldFile(file: string, logs: Readonly<Record<string, readonly CanonicalEvent[]>>): void {
  const database = new DatabaseSync(file);
  for (const step of MIGRATIONS.slice(0, 2)) database.exec(step);
  database.exec('PRAGMA user_version = 2');
  for (const [id, events] of Object.entries(logs)) {
    const view = { ...events.reduce(foldView, undefined), generation: 1 };
    database
      .prepare(
        `INSERT INTO conversations
           (tenant, conversation_id, generation, last_seq, run_id, history_length, agent, status, snapshot)
         VALUES ('default', ?, 1, ?, 'run-a', 9, ?, ?, ?)`,
      )
      .run(id, events.length, view.agent ?? '', view.status ?? '', JSON.stringify(view));
    for (const event of events)
      database
        .prepare(`INSERT INTO events VALUES ('default', ?, 1, ?, ?, ?, 'run-a', 'h', ?)`)
        .run(id, event.seq, event.type, turnIdOf(event) ?? null, JSON.stringify(event));
  }
  database.close();
}

describe('a file that an older version wrote', () => {
  it('is listed by what waits and by when it was closed, as if it had been written now', async () => {
    const file = join(temporaryFolder(), 'log.db');
    const key = (conversationId: string) => ({ tenant: 'default', conversationId });
    const suspension = suspends('t', 'call-1');
    const waiting = [
      started(key('waits')),
      ...asks('t'),
      suspension.type === 'suspension'
        ? { ...suspension, suspension: { ...suspension.suspension, audience: { users: ['ann'] } } }
        : suspension,
    ];
    oldFile(file, {
      ...logsOfAnn(),
      waits: stamped(waiting),
      closed: stamped([started(key('closed')), closes()]),
      idle: stamped([started(key('idle')), ...turn('t2')]),
    });
    const copy = `${file}.copy`;
    copyFileSync(file, copy);
    const log = await openSqliteEventLog({ file });
    onTestFinished(() => log.close());
    const pending = await log.list({ tenant: 'default', pendingTool: 'pay' });
    expect(pending.conversations.map(({ conversationId }) => conversationId)).toEqual([
      'waits',
      'of ann',
      'of input',
    ]);
    const waitsFor = async (id: string) =>
      (await log.list({ tenant: 'default', pendingFor: { id, verified: true } })).conversations.map(
        ({ conversationId }) => conversationId,
      );
    expect(await waitsFor('ann')).toEqual(['waits']);
    expect(await waitsFor('bo')).toEqual(['of ann', 'of input']);
    const due = { tenant: 'default', pendingKind: 'approval' } as const;
    const listed = async (deadlineBefore: string) =>
      (await log.list({ ...due, deadlineBefore })).conversations.length;
    expect(await listed('2030-01-02T00:00:00.000Z')).toBe(0);
    expect(await listed('2030-01-02T00:00:00.001Z')).toBe(1);
    const closedBeforeMs = Date.parse('2030-01-02T00:00:00.000Z');
    expect(await log.closedBefore({ closedBeforeMs, limit: 9 })).toEqual([
      expect.objectContaining({
        conversationId: 'closed',
        lastSeq: 2,
        closedAtMs: Date.parse('2030-01-01T00:00:02.000Z'),
      }),
    ]);
    // What waited before the upgrade ends after it.
    const ended = stamped([closes()], { from: waiting.length + 1 });
    await log.append({ ...key('waits'), runId: 'run-a', events: ended });
    const left = { ...due, deadlineBefore: '2030-01-02T00:00:00.001Z' };
    expect(await log.list(left)).toEqual({ conversations: [] });
    // Two processes may upgrade one file at the same time.
    const both = await Promise.all([1, 2].map(() => openSqliteEventLog({ file: copy })));
    expect((await both[1]?.list(left))?.conversations).toHaveLength(1);
    for (const each of both) await each.close();
  });
});

describe('listing in sqlite', () => {
  it('goes along an index in the order of the list, whatever is asked: no scan, no sort', async () => {
    const database = await SqliteDatabase.open(':memory:', 'normal');
    onTestFinished(() => {
      database.close();
    });
    for (const options of LIST_FILTERS) {
      const { sql, values } = listQuery(options, SQLITE);
      const plan = database.all(`EXPLAIN QUERY PLAN ${sql}`, ...values).map(({ detail }) => detail);
      const text = `${JSON.stringify(options)}: ${plan.join('; ')}`;
      expect(text).toMatch(/SEARCH (conversations|call) USING INDEX/);
      // Lists within one row are no tables.
      expect(text).not.toMatch(
        /SCAN (?!CONSTANT ROW|rule;|(?:name|json_each) VIRTUAL TABLE)|TEMP B-TREE/,
      );
      // Other calls of a conversation are found among its own.
      expect(text).not.toMatch(/SEARCH earlier USING INDEX pending_calls_by/);
    }
  });
});

describe('reading a turn in sqlite', () => {
  it('goes along the index of turns, not over the whole conversation', async () => {
    const database = await SqliteDatabase.open(':memory:', 'normal');
    onTestFinished(() => {
      database.close();
    });
    const plan = database.all(`EXPLAIN QUERY PLAN ${TURN_EVENTS}`, 't', 'default', 'c');
    const text = plan.map(({ detail }) => detail).join('; ');
    expect(text).toContain('SEARCH events USING INDEX events_by_turn (turn_id=?');
    expect(text).not.toMatch(/SCAN/);
    const asked = database.all(`EXPLAIN QUERY PLAN ${MESSAGES}`, 't', 'default', 'c');
    expect(asked.map(({ detail }) => detail)).toEqual(plan.map(({ detail }) => detail));
  });
});

describe('what a turn adds to the store', () => {
  it('is the same in the two hundredth turn as in the tenth: as many rows, and a snapshot of the same size', async () => {
    const file = join(temporaryFolder(), 'log.db');
    const log = await openSqliteEventLog({ file });
    onTestFinished(() => log.close());
    const key = { tenant: 'default', conversationId: 'c1' };
    const sizes: number[] = [];
    const look = new DatabaseSync(file, { readOnly: true });
    onTestFinished(() => {
      look.close();
    });
    const rows = (): number =>
      ['conversations', 'events', 'pending_calls', 'call_leases', 'deletions']
        .map((table) => look.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.['rows'])
        .reduce<number>((sum, count) => sum + Number(count), 0);
    let seq = 1;
    await log.append({ ...key, runId: 'r', events: stamped([started(key)]) });
    for (let nth = 100; nth < 300; nth += 1) {
      const before = rows();
      const events = stamped(turn(`t${nth}`), { from: seq + 1 });
      seq += events.length;
      await log.append({ ...key, runId: 'r', events });
      expect(rows() - before).toBe(events.length);
      const snapshot = (await log.head(key))?.snapshot;
      // Counters have more digits; nothing else grows.
      const digits = JSON.stringify(snapshot?.usage).length + String(snapshot?.seq).length;
      sizes.push(JSON.stringify(snapshot).length - digits);
    }
    expect(new Set(sizes.slice(9)).size).toBe(1);
  });
});

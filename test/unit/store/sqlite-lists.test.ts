import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { listedQuery, listQuery } from '../../../src/store/plans/list-query.js';
import { worklistQuery } from '../../../src/store/plans/worklist-query.js';
import { LATE_MS } from '../../../src/store/ports/lists.js';
import { SqliteDatabase } from '../../../src/store/sqlite/database/database.js';
import { CHANGES, SQLITE } from '../../../src/store/sqlite/lists.js';
import { MESSAGES } from '../../../src/store/sqlite/pending.js';
import { TURN_EVENTS, TURN_KEY } from '../../../src/store/sqlite/read.js';
import { openSqliteEventLog } from '../../support/event-logs.js';
import { promise } from '../../support/promise.js';
import { stamped, started, turn } from '../../support/samples/log-events.js';
import { LIST_FILTERS, WORKLIST_FILTERS } from '../../support/schedules/list-filters.js';
import { temporaryFolder } from '../../support/temporary.js';

describe('listing in sqlite', () => {
  it('uses an index in the order of the list, for every filter: no scan, no sort', {
    ...promise('G238'),
  }, async () => {
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
    for (const request of WORKLIST_FILTERS) {
      const { sql, values } = worklistQuery(request, SQLITE);
      const plan = database.all(`EXPLAIN QUERY PLAN ${sql}`, ...values).map(({ detail }) => detail);
      const text = `${JSON.stringify(request)}: ${plan.join('; ')}`;
      expect(text).toMatch(/SEARCH call USING INDEX pending_calls_by/);
      expect(text).not.toMatch(
        /SCAN (?!CONSTANT ROW|rule;|(?:name(?: EXISTS)?|json_each) VIRTUAL TABLE)|TEMP B-TREE/,
      );
    }
  });
});

describe('reading what has changed in sqlite', () => {
  it('uses the index of a tenant by time, in order, and rows are found by their key', {
    ...promise('G364'),
  }, async () => {
    const database = await SqliteDatabase.open(':memory:', 'normal');
    onTestFinished(() => {
      database.close();
    });
    const planOf = (sql: string, values: readonly (string | number)[]): string =>
      database
        .all(`EXPLAIN QUERY PLAN ${sql}`, ...values)
        .map(({ detail }) => detail)
        .join('; ');
    for (const sql of Object.values(CHANGES)) {
      const plan = planOf(sql, ['default', 5, 100]);
      expect(plan).toMatch(
        /^SEARCH \w+ USING (COVERING )?INDEX \w+_of_tenant \(tenant=\? AND \w+>\?\)$/,
      );
    }
    const { sql, values } = listedQuery({ tenant: 'default', ids: ['a', 'b'] }, SQLITE);
    expect(planOf(sql, values)).toMatch(
      /SEARCH conversations USING INDEX sqlite_autoindex_conversations_1 \(tenant=\? AND conversation_id=\?\)/,
    );
  });
});

describe('a transaction in sqlite', () => {
  it(
    'that was open for longer than readers look back is rolled back',
    promise('G364'),
    async () => {
      const log = await openSqliteEventLog({ file: ':memory:' });
      onTestFinished(() => log.close());
      const key = { tenant: 'default', conversationId: 'c1' };
      const batch = { ...key, runId: 'r', events: stamped([started(key)]) };
      let now = 0;
      const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += LATE_MS));
      await expect(log.append(batch)).rejects.toThrow('a transaction took too long');
      clock.mockRestore();
      expect(await log.head(key)).toBeUndefined();
      expect((await log.append(batch)).outcome).toBe('appended');
    },
  );
});

describe('reading a turn in sqlite', () => {
  it('uses the index of turns, and does not scan the whole conversation', {
    ...promise('G170'),
  }, async () => {
    const database = await SqliteDatabase.open(':memory:', 'normal');
    onTestFinished(() => {
      database.close();
    });
    const plan = database.all(`EXPLAIN QUERY PLAN ${TURN_EVENTS}`, 't', 'default', 'c');
    const text = plan.map(({ detail }) => detail).join('; ');
    expect(text).toContain('SEARCH events USING INDEX events_by_turn (turn_id=?');
    expect(text).not.toMatch(/SCAN/);
    const found = database.all(`EXPLAIN QUERY PLAN ${TURN_KEY}`, 't', '["default"]', 'c');
    expect(found.map(({ detail }) => detail).join('; ')).toContain(
      'SEARCH events USING INDEX events_by_turn (turn_id=?',
    );
    const asked = database.all(`EXPLAIN QUERY PLAN ${MESSAGES}`, 't', 'default', 'c');
    expect(asked.map(({ detail }) => detail)).toEqual(plan.map(({ detail }) => detail));
  });
});

describe('the growth of the store by a turn', () => {
  it('is the same in the two hundredth turn as in the tenth: as many rows, and a snapshot of the same size', {
    ...promise('G256'),
  }, async () => {
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

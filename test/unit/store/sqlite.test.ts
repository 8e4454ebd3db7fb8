import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { StoreUnavailable } from '../../../src/store/ports/log.js';
import { SqliteDatabase } from '../../../src/store/sqlite/database/database.js';
import { MIGRATIONS } from '../../../src/store/sqlite/database/schema.js';
import { describeDeletions } from '../../support/conformance/deletion.js';
import { describeEventLog } from '../../support/conformance/event-log.js';
import { describeApiKeys } from '../../support/conformance/keys/api-keys.js';
import { describeLeases } from '../../support/conformance/leases.js';
import { describeAudiences } from '../../support/conformance/lists/audience.js';
import { describeChanges } from '../../support/conformance/lists/changes.js';
import { describeLists } from '../../support/conformance/lists/lists.js';
import { describeWorklist } from '../../support/conformance/lists/worklist.js';
import { describePresence } from '../../support/conformance/presence.js';
import { describeTroubles } from '../../support/conformance/troubles.js';
import { openSqliteEventLog } from '../../support/event-logs.js';
import { promise } from '../../support/promise.js';
import { KEY, stamped, started, turn } from '../../support/samples/log-events.js';
import { startChild } from '../../support/servers/children.js';
import { temporaryFolder } from '../../support/temporary.js';

describeEventLog('sqlite event log', async () => await openSqliteEventLog({ file: ':memory:' }));
describeApiKeys('sqlite API keys', async () => await openSqliteEventLog({ file: ':memory:' }));
describeLeases('sqlite leases', async () => await openSqliteEventLog({ file: ':memory:' }));
describeAudiences(
  'sqlite lists by audience',
  async () => await openSqliteEventLog({ file: ':memory:' }),
);
describeChanges('changes in sqlite', async () => await openSqliteEventLog({ file: ':memory:' }));
describeWorklist('the sqlite worklist', async () => await openSqliteEventLog({ file: ':memory:' }));
describeLists('sqlite lists', async () => await openSqliteEventLog({ file: ':memory:' }));
describeTroubles(
  'sqlite marks of trouble',
  async () => await openSqliteEventLog({ file: ':memory:' }),
);
describeDeletions('sqlite deletions', async () => await openSqliteEventLog({ file: ':memory:' }));

describePresence('workers in the sqlite event log', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const log = await openSqliteEventLog({ file: ':memory:' });
  const pass = (milliseconds: number) => {
    vi.setSystemTime(Date.now() + milliseconds);
    return Promise.resolve();
  };
  return { log, pass };
});

const EVENTS = stamped([started(), ...turn('t1')]);

async function refusalOf(work: Promise<unknown>): Promise<StoreUnavailable> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof StoreUnavailable))
    throw new Error(`expected StoreUnavailable`, { cause: error });
  return error;
}

describe('sqlite event log on disk', () => {
  it('keeps everything when it is closed and opened again, in a folder that it makes', async () => {
    const file = join(temporaryFolder(), 'deep', 'er', 'log.db');
    const first = await openSqliteEventLog({ file });
    await first.append({ ...KEY, runId: 'run-a', events: EVENTS });
    const head = await first.head(KEY);
    await first.close();
    const second = await openSqliteEventLog({ file, synchronous: 'full' });
    expect((await second.read(KEY))?.events).toEqual(EVENTS);
    expect(await second.head(KEY)).toEqual(head);
    await second.close();
  });

  it('has a name that every process finds, and no other file has', async () => {
    const folder = temporaryFolder();
    const open = (name: string) => openSqliteEventLog({ file: join(folder, name) });
    const logs = await Promise.all([open('a.db'), open('a.db'), open('b.db')]);
    const [first, again, other] = await Promise.all(logs.map((log) => log.storeId()));
    expect(again).toBe(first);
    expect(other).not.toBe(first);
    for (const log of logs) await log.close();
  });

  it('fails as unavailable with the name of a file that is no database', async () => {
    const file = join(temporaryFolder(), 'log.db');
    writeFileSync(file, 'these are not the pages of a database. '.repeat(200));
    const refusal = await refusalOf(openSqliteEventLog({ file }));
    expect(refusal.code).toBe('store_unavailable');
    expect(refusal.message).toContain(file);
  });

  it('fails as unavailable with the path of a folder', async () => {
    const file = join(temporaryFolder(), 'log.db');
    mkdirSync(file);
    expect((await refusalOf(openSqliteEventLog({ file }))).message).toContain(file);
  });

  it('refuses a file that a newer version wrote, and leaves it as it is', async () => {
    const file = join(temporaryFolder(), 'log.db');
    const database = await SqliteDatabase.open(file, 'normal');
    database.run('PRAGMA user_version = 99');
    database.close();
    expect((await refusalOf(openSqliteEventLog({ file }))).message).toContain('newer version');
  });

  it('takes each migration once, with any number of processes that open it, and keeps its content', {
    ...promise('G250'),
  }, async () => {
    const file = join(temporaryFolder(), 'log.db');
    const log = await openSqliteEventLog({ file });
    await log.append({ ...KEY, runId: 'run-a', events: EVENTS });
    await log.close();
    const steps = [...MIGRATIONS, 'CREATE TABLE next (id TEXT) STRICT'];
    const opened = await Promise.all(
      [1, 2, 3].map(() => SqliteDatabase.open(file, 'normal', steps)),
    );
    const rows = opened[0]?.all('SELECT event FROM events ORDER BY seq').map(({ event }) => event);
    expect(rows?.map((event) => JSON.parse(String(event)) as unknown)).toEqual(EVENTS);
    expect(opened[1]?.get('PRAGMA user_version')?.['user_version']).toBe(steps.length);
    expect(opened[2]?.all('SELECT * FROM next')).toEqual([]);
    for (const each of opened) each.close();
    expect((await refusalOf(openSqliteEventLog({ file }))).message).toContain('newer version');
  });

  it('is left as it was by a migration that fails', promise('G250'), async () => {
    const file = join(temporaryFolder(), 'log.db');
    await (await openSqliteEventLog({ file })).close();
    const steps = [...MIGRATIONS, 'CREATE TABLE half (id TEXT) STRICT; SELECT no_such_column'];
    await refusalOf(SqliteDatabase.open(file, 'normal', steps));
    const database = await SqliteDatabase.open(file, 'normal');
    expect(database.get('PRAGMA user_version')?.['user_version']).toBe(MIGRATIONS.length);
    expect(database.all(`SELECT 1 FROM sqlite_master WHERE name = 'half'`)).toEqual([]);
    database.close();
  });

  it('is unavailable after it was closed, and closing twice is fine', async () => {
    const log = await openSqliteEventLog({ file: join(temporaryFolder(), 'log.db') });
    await log.close();
    await log.close();
    expect((await refusalOf(log.head(KEY))).message).toContain('closed');
    expect((await refusalOf(log.append({ ...KEY, runId: 'r', events: EVENTS }))).code).toBe(
      'store_unavailable',
    );
  });

  it('reads at once while another process holds the write lock, and writes when it is free', async () => {
    const file = join(temporaryFolder(), 'log.db');
    const log = await openSqliteEventLog({ file });
    await log.append({ ...KEY, runId: 'run-a', events: EVENTS.slice(0, 3) });
    const other = await SqliteDatabase.open(file, 'normal');
    other.run('BEGIN IMMEDIATE');
    const order: string[] = [];
    const writing = log.append({ ...KEY, runId: 'run-a', events: EVENTS }).then((result) => {
      order.push(result.outcome);
    });
    expect((await log.head(KEY))?.lastSeq).toBe(3);
    order.push('read');
    other.run('ROLLBACK');
    await writing;
    expect(order).toEqual(['read', 'appended']);
    other.close();
    await log.close();
  });

  it('rolls a failed append back whole', async () => {
    const log = await openSqliteEventLog({ file: join(temporaryFolder(), 'log.db') });
    const headless = stamped(turn('t1'));
    await expect(log.append({ ...KEY, runId: 'r', events: headless })).rejects.toThrow(
      'conversation_started',
    );
    expect(await log.read(KEY)).toBeUndefined();
    expect(await log.findTurn('t1')).toBeUndefined();
    await log.close();
  });
});

describe('sqlite event log and other processes', () => {
  const program = new URL('../../support/servers/sqlite-child.ts', import.meta.url);

  it('takes each event once when four processes append the same log at the same time', async () => {
    const file = join(temporaryFolder(), 'log.db');
    const children = Array.from({ length: 4 }, () => startChild(program, [file, 'c1', '20']));
    for (const child of children) expect([await child.ended, child.errors]).toEqual([0, []]);
    const added = children.map((child) => (child.lines[0] as { added: number }).added);
    expect(added.reduce((sum, count) => sum + count, 0)).toBe(101);
    const log = await openSqliteEventLog({ file });
    const read = await log.read(KEY);
    expect(read?.generation).toBe(1);
    expect(read?.events.map((event) => event.seq)).toEqual(
      Array.from({ length: 101 }, (_, index) => index + 1),
    );
    await log.close();
  });

  it('leaves a whole, dense log when a process is killed while it appends', async () => {
    const file = join(temporaryFolder(), 'log.db');
    const child = startChild(program, [file, 'c1', '20000']);
    while (!existsSync(`${file}-wal`)) await new Promise((resolve) => setTimeout(resolve, 5));
    const log = await openSqliteEventLog({ file });
    while (((await log.head(KEY))?.lastSeq ?? 0) < 50)
      await new Promise((resolve) => setTimeout(resolve, 5));
    child.kill('SIGKILL');
    await child.ended;
    const head = await log.head(KEY);
    const read = await log.read(KEY, { limit: 1_000_000, maxBytes: 1e9 });
    expect(read?.events.map((event) => event.seq)).toEqual(
      Array.from({ length: head?.lastSeq ?? 0 }, (_, index) => index + 1),
    );
    expect(head?.snapshot.seq).toBe(head?.lastSeq);
    await log.close();
  });
});

import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openEventLog } from '../../../src/projection/index.js';
import { openFolderBlobStore } from '../../../src/store/folder/blobs.js';
import { StoreUnavailable } from '../../../src/store/ports/log.js';
import { openSqliteStores } from '../../../src/store/sqlite/event-log.js';
import { describeDeletedBlobs } from '../../support/conformance/blob-deletion.js';
import { describeBlobs } from '../../support/conformance/blobs.js';
import { expectNoRowLeft } from '../../support/conformance/whole-deletion.js';
import { temporaryFolder } from '../../support/temporary.js';

const KEY = { tenant: 'default', conversationId: 'c1' };
const BLOB = { type: 'text/plain', content: Buffer.from('a value') } as const;

describeBlobs('sqlite blobs', async () => (await openSqliteStores({ file: ':memory:' })).blobs);
describeBlobs('blobs in a folder', async () =>
  openFolderBlobStore({ folder: join(temporaryFolder(), 'deep', 'er') }),
);

describeDeletedBlobs('deleted blobs in sqlite', async () => {
  const stores = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => stores.log.close());
  return stores;
});
describeDeletedBlobs('deleted blobs in a folder', async () => {
  const { log } = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => log.close());
  return { log, blobs: await openFolderBlobStore({ folder: temporaryFolder() }) };
});

it('a conversation that is deleted leaves no row but its tombstone in any table', async () => {
  const file = join(temporaryFolder(), 'log.db');
  const stores = await openSqliteStores({ file });
  const reading = new DatabaseSync(file, { readOnly: true });
  onTestFinished(async () => {
    reading.close();
    await stores.log.close();
  });
  const tables = reading
    .prepare(
      `SELECT DISTINCT tables.name FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns
       WHERE tables.type = 'table' AND columns.name = 'conversation_id'`,
    )
    .all()
    .map(({ name }) => String(name));
  const count = (table: string, id: string): number =>
    Number(
      reading.prepare(`SELECT count(*) AS rows FROM ${table} WHERE conversation_id = ?`).get(id)?.[
        'rows'
      ],
    );
  await expectNoRowLeft({
    ...stores,
    rowsOf: (id) =>
      Promise.resolve(Object.fromEntries(tables.map((table) => [table, count(table, id)]))),
  });
});

describe('blobs beside the event log', () => {
  it('lie in the same file, and are there when it is opened again', async () => {
    const file = join(temporaryFolder(), 'log.db');
    const first = await openEventLog(file);
    const ref = await first.blobs?.put(KEY, BLOB);
    await first.close();
    const second = await openEventLog(file);
    expect((await second.blobs?.get(KEY, ref?.id ?? ''))?.ref).toEqual(ref);
    await second.close();
    expect(readdirSync(join(file, '..')).filter((name) => name.endsWith('.db'))).toEqual([
      'log.db',
    ]);
    await expect(second.blobs?.put(KEY, BLOB)).rejects.toThrow(StoreUnavailable);
  });

  it('lie in a folder, in an adapter or nowhere when the application says so', async () => {
    const folder = temporaryFolder();
    const elsewhere = await openEventLog(':memory:', { blobs: { folder } });
    await elsewhere.blobs?.put(KEY, BLOB);
    expect(readdirSync(folder)).toHaveLength(1);
    const given = elsewhere.blobs;
    if (given === undefined) throw new Error('no blobs');
    const byAdapter = await openEventLog(':memory:', { blobs: given });
    expect(byAdapter.blobs).toBe(given);
    const nowhere = await openEventLog(':memory:', { blobs: 'off' });
    expect(nowhere.blobs).toBeUndefined();
    await Promise.all([elsewhere.close(), byAdapter.close(), nowhere.close()]);
  });
});

describe('a folder of blobs that cannot be used', () => {
  it('is named when it is a file', async () => {
    const folder = join(temporaryFolder(), 'taken');
    writeFileSync(folder, 'a file');
    await expect(openFolderBlobStore({ folder })).rejects.toThrow(StoreUnavailable);
    await expect(openFolderBlobStore({ folder })).rejects.toThrow(folder);
  });

  it('makes the store unavailable when a folder in it is none any more', async () => {
    const folder = temporaryFolder();
    const blobs = await openFolderBlobStore({ folder });
    await blobs.put(KEY, BLOB);
    const [tenant = ''] = readdirSync(folder);
    rmSync(join(folder, tenant), { recursive: true });
    writeFileSync(join(folder, tenant), 'a file');
    await expect(blobs.put(KEY, BLOB)).rejects.toThrow(StoreUnavailable);
  });

  it('skips files that it has not written itself', async () => {
    const folder = temporaryFolder();
    const blobs = await openFolderBlobStore({ folder });
    await blobs.put(KEY, BLOB);
    const [tenant = ''] = readdirSync(folder);
    const [conversation = ''] = readdirSync(join(folder, tenant));
    writeFileSync(join(folder, tenant, conversation, 'notes.json'), '{}');
    expect(await blobs.list({ limit: 9 })).toHaveLength(1);
  });
});

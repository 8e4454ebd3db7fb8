/** Webhooks in sqlite: the contract of every store, and one transaction for a log and its outbox. */
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { SqliteDatabase } from '../../../src/store/sqlite/database/database.js';
import { openSqliteStores } from '../../../src/store/sqlite/event-log.js';
import { storeOutbox } from '../../../src/store/sqlite/webhooks/outbox.js';
import { promise } from '../../support/promise.js';
import { KEY, stamped, started, turn } from '../../support/samples/log-events.js';
import { temporaryFolder } from '../../support/temporary.js';
import { describeDeliveries } from '../../support/webhooks/deliveries.js';
import { describeOutbox } from '../../support/webhooks/outbox.js';
import { putEndpoint } from '../../support/webhooks/samples.js';

const make = async () => await openSqliteStores({ file: ':memory:' });

describeOutbox('the sqlite outbox', make);
describeDeliveries('sqlite deliveries', make);

it('makes no events while there is no endpoint for them', async () => {
  const file = join(temporaryFolder(), 'log.db');
  const { log, webhooks } = await openSqliteStores({ file });
  const database = await SqliteDatabase.open(file, 'normal');
  onTestFinished(async () => {
    database.close();
    await log.close();
  });
  let asked = 0;
  const events = () => {
    asked += 1;
    return [];
  };
  const store = async () => {
    await database.write(() => {
      storeOutbox(database, KEY, events);
    });
  };
  await putEndpoint(webhooks, { tenant: 'other' });
  await store();
  expect(asked).toBe(0);
  await putEndpoint(webhooks, { id: 'own' });
  await store();
  expect(asked).toBe(1);
});

it('stores no event whose webhooks cannot be stored', promise('G358'), async () => {
  const file = join(temporaryFolder(), 'log.db');
  const { log, webhooks } = await openSqliteStores({ file });
  onTestFinished(() => log.close());
  await putEndpoint(webhooks);
  const other = await SqliteDatabase.open(file, 'normal');
  await other.write(() => other.run('ALTER TABLE webhook_deliveries RENAME TO gone'));
  other.close();
  const events = stamped([started(), ...turn('t1')]);
  await expect(log.append({ ...KEY, runId: 'run-a', events })).rejects.toThrow();
  expect(await log.head(KEY)).toBeUndefined();
});

/** Options that an event log is opened with. */
import { expect, test } from 'vitest';
import { openEventLog, StoreUnavailable } from '../../../../src/projection/index.js';

test('options are for Postgres: another url is refused by name, without repeating what may hold a password', async () => {
  const url = 'mysql://me:secret@host/log';
  const refused = await openEventLog({ url }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(TypeError);
  expect(String(refused)).toContain('url must be a postgres:// address');
  expect(String(refused)).not.toContain('secret');
});

test.each([
  ['mysql:', 'mysql://me:secret@host/log'],
  ['Postgres:', 'Postgres://me:secret@host/log'],
  ['postgres:', 'postgres:log'],
  ['sqlite:', 'sqlite:log.db'],
  ['file:', 'file:log.db'],
])('a text that is an address with %s is no file', async (scheme, choice) => {
  const refused = await openEventLog(choice).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(TypeError);
  expect(String(refused)).toContain(
    `must be a postgres:// address or a sqlite file, got an address with ${scheme}`,
  );
  expect(String(refused)).not.toContain('secret');
});

test('options reach Postgres: a server that is not there is unavailable', async () => {
  const options = {
    url: 'postgres://me:secret@127.0.0.1:9/log',
    schema: 'mine',
    maxConnections: 2,
  };
  const refused = await openEventLog(options).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(StoreUnavailable);
  expect(String(refused)).not.toContain('secret');
});

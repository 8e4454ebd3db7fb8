/** Spaces in a real Postgres: the contract of every store. */
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { expect, inject, it, onTestFinished } from 'vitest';
import { openPostgresStores } from '../../src/store/postgres/event-log.js';
import { describeReadMarks } from '../support/conformance/spaces/marks.js';
import { BOT, KEY, makerOf } from '../support/conformance/spaces/samples.js';
import { describeSpaces } from '../support/conformance/spaces/spaces.js';
import { describeWakes } from '../support/conformance/spaces/wakes.js';
import { describeSpaceWriters } from '../support/conformance/spaces/writers.js';
import { until } from '../support/until.js';

const url = inject('postgresUrl');
const opened = () => {
  const schema = `log_${randomUUID().slice(0, 8)}`;
  return async () => await openPostgresStores({ url, schema, maxConnections: 4 });
};
const make = async () => await opened()();

describeSpaces('postgres spaces', make);
describeReadMarks('read marks in postgres', make);
describeWakes('agents to wake in postgres', make);
describeSpaceWriters('writers of a space in postgres', opened);

it('no agent of a space is due any more once its removal has begun', async () => {
  const schema = `log_${randomUUID().slice(0, 8)}`;
  const { spaces, log } = await openPostgresStores({ url, schema, maxConnections: 4 });
  const client = new Client({ connectionString: url });
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await log.close();
  });
  const { created, stored } = makerOf(() => spaces);
  await created();
  await spaces.join({ ...KEY, member: BOT, nowMs: 1 });
  await stored({ id: 'm1' });
  // The removal waits at its first message.
  await client.query('BEGIN');
  await client.query(`SELECT 1 FROM ${schema}.space_messages FOR UPDATE`);
  const removing = spaces.remove(KEY);
  const sql = `SELECT 1 FROM ${schema}.space_members WHERE wake_at_ms IS NOT NULL`;
  await until('no agent is due', async () => (await client.query(sql)).rows.length === 0);
  expect(await spaces.members(KEY)).toHaveLength(2);
  await client.query('COMMIT');
  expect(await removing).toBe(true);
});

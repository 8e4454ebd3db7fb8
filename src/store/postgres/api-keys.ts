/** Rows of API keys in the Postgres event log. */

import { textIn } from '../plans/rows.js';
import type { KeyTable } from '../plans/service/api-keys.js';
import type { PostgresDatabase } from './database/database.js';

export function keyTable(database: PostgresDatabase): KeyTable {
  const table = database.table('api_keys');
  return {
    insert: async (id, text) => {
      const sql = `INSERT INTO ${table} (id, record) VALUES ($1, $2) ON CONFLICT DO NOTHING`;
      return (await database.run(sql, id, text)) > 0;
    },
    get: async (id) => {
      const row = await database.get(`SELECT record FROM ${table} WHERE id = $1`, id);
      return row === undefined ? undefined : textIn(row, 'record');
    },
    all: async () => {
      const rows = await database.all(`SELECT record FROM ${table} ORDER BY id`);
      return rows.map((row) => textIn(row, 'record'));
    },
    swap: async (id, before, after) => {
      const sql = `UPDATE ${table} SET record = $1 WHERE id = $2 AND record = $3`;
      return (await database.run(sql, after, id, before)) > 0;
    },
  };
}

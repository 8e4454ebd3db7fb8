/** Rows of API keys in the sqlite event log. */

import { type Row, textIn } from '../../plans/rows.js';
import type { KeyTable } from '../../plans/service/api-keys.js';

/** The part of the database that is needed here. */
interface Database {
  read<Result>(work: () => Result): Promise<Result>;
  write<Result>(work: () => Result): Promise<Result>;
  get(sql: string, ...values: string[]): Row | undefined;
  all(sql: string): readonly Row[];
  run(sql: string, ...values: string[]): number;
}

export function keyTable(database: Database): KeyTable {
  return {
    insert: async (id, text) => {
      const sql = 'INSERT INTO api_keys (id, record) VALUES (?, ?) ON CONFLICT DO NOTHING';
      return (await database.write(() => database.run(sql, id, text))) > 0;
    },
    get: async (id) => {
      const sql = 'SELECT record FROM api_keys WHERE id = ?';
      const row = await database.read(() => database.get(sql, id));
      return row === undefined ? undefined : textIn(row, 'record');
    },
    all: async () => {
      const rows = await database.read(() => database.all('SELECT * FROM api_keys ORDER BY id'));
      return rows.map((row) => textIn(row, 'record'));
    },
    swap: async (id, before, after) => {
      const sql = 'UPDATE api_keys SET record = ? WHERE id = ? AND record = ?';
      return (await database.write(() => database.run(sql, after, id, before))) > 0;
    },
  };
}

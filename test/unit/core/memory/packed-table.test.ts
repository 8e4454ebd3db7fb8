/** Packed rows are read again exactly. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  DictionaryWriter,
  packRows,
  turnsIn,
  unpackRows,
} from '../../../../src/core/memory/packed-table.js';
import { promise } from '../../../support/promise.js';

const COLUMNS = { key: 'plain', name: 'word', turnId: 'turn', at: 'time', seq: 'count' } as const;

const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', ' ', ',', '~1', 'a,b c'));
const instant = fc.oneof(
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.constantFrom('2026-03-01T12:00:00Z', '2026-03-01T12:00:00.000+01:00', 'never', ''),
);
const row = fc.record(
  {
    key: fc.stringMatching(/^[0-9a-z]{1,11}$/),
    name: text,
    turnId: fc.oneof(
      text,
      fc.nat(50).map((turn) => `turn_c0ffee_${turn}_abc`),
    ),
    at: instant,
    seq: fc.integer({ min: -(2 ** 50), max: 2 ** 50 }),
  },
  { requiredKeys: ['key'] },
);

test('rows of any content are read as they were written, through JSON', promise('G202'), () => {
  fc.assert(
    fc.property(fc.array(row), fc.array(row), (first, second) => {
      const into = new DictionaryWriter();
      const packed = [packRows(COLUMNS, first, into), packRows(COLUMNS, second, into)];
      const { dictionary, columns } = JSON.parse(
        JSON.stringify({ dictionary: into.dictionary, columns: packed }),
      ) as { dictionary: typeof into.dictionary; columns: [string, string] };
      const from = { turns: turnsIn(dictionary), words: dictionary.words };
      expect(unpackRows(COLUMNS, columns[0], from)).toEqual(first);
      expect(unpackRows(COLUMNS, columns[1], from)).toEqual(second);
    }),
  );
});

/** The check that keeps docs/requirements.md complete: it fails when a row is missing, doubled, or proves nothing. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { requirementFaults, requirementRows } from '../../scripts/requirements-table.mjs';

const DOCUMENT = readFileSync(new URL('../../docs/requirements.md', import.meta.url), 'utf8');
const faultsOf = (markdown: string) =>
  requirementFaults(requirementRows(markdown)).map(({ message }) => message);
const rowOf = (id: string): string => {
  const row = DOCUMENT.split('\n').find((line) => line.startsWith(`| ${id} |`));
  if (row === undefined) throw new Error(`no row of its own for ${id}`);
  return row;
};
/** The document with the row of A1 replaced. */
const withA1 = (row: string): string => DOCUMENT.replace(rowOf('A1'), row);

describe('the table of requirements', () => {
  it('is complete as it stands', () => {
    expect(faultsOf(DOCUMENT)).toEqual([]);
  });

  it.each(['S1', 'S50', 'A1', 'A57', 'H1', 'H57', 'C1', 'C42', 'X1', 'X50', '2.A.2', 'N8', 'T13'])(
    'lacks %s when its row is missing',
    (id) => {
      expect(faultsOf(DOCUMENT.replace(`${rowOf(id)}\n`, ''))).toEqual([
        `no row has requirement ${id}`,
      ]);
    },
  );

  it('names a test or a marked reason in every row', () => {
    const proof = (text: string) => faultsOf(withA1(`| A1 | x | ${text} |`));
    expect(proof('`a.test.ts > b`')).toEqual([]);
    expect(
      proof('`a.test.ts > b`, `a.test.ts > c`; later: the other half is built with plugins'),
    ).toEqual([]);
    expect(proof('not applicable: it speaks of another language')).toEqual([]);
    expect(proof('')).toEqual([
      'A1: names no test, and is marked neither "not applicable: ..." nor "later: ..."',
    ]);
    expect(proof('it works')).toHaveLength(2);
    expect(proof('`a.test.ts > b` mostly')).toEqual([
      'A1: "mostly" is neither a test nor a marked reason',
    ]);
    expect(proof('later: not yet')).toEqual([
      'A1: "later" has no reason of at least 20 characters',
    ]);
    expect(proof('`a.test.ts > b`; not applicable: it speaks of another language')).toEqual([
      'A1: names tests, so it is applicable',
    ]);
  });

  it('has each id once, and no other', () => {
    const proof = '`a.test.ts > b`';
    expect(faultsOf(withA1(`| A1, A2 | x | ${proof} |`))).toEqual(['A2: "A2" has a row already']);
    expect(faultsOf(withA1(`| A58 | x | ${proof} |`))).toEqual([
      'A58: there is no requirement "A58"',
      'no row has requirement A1',
    ]);
    expect(faultsOf(withA1(`| A1 | x |`))).toEqual(
      expect.arrayContaining(['A1: this row has 2 cells, not 3']),
    );
  });
});

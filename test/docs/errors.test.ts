/** The page of errors has every code of the failure table, with its HTTP status and whether a retry helps. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { FAILURES } from '../../src/protocol/failures/failures.js';

const PAGE = fileURLToPath(new URL('../../docs/errors.md', import.meta.url));

/** The rows of all tables on the page: code, status, retry, cause, next step. */
const rows = readFileSync(PAGE, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );

describe('docs/errors.md', () => {
  it.each(Object.entries(FAILURES))('says of %s what a caller can do', (code, row) => {
    const [own, ...others] = rows.filter(([cell]) => cell === `\`${code}\``);
    expect(others).toEqual([]);
    expect(own?.slice(1, 3)).toEqual([String(row.httpStatus), row.retryable ? 'yes' : 'no']);
    expect(own?.slice(3)).toEqual([expect.stringMatching(/\S/), expect.stringMatching(/\S/)]);
  });

  it('has no code that the table does not have', () => {
    const known = Object.keys(FAILURES).map((code) => `\`${code}\``);
    expect(rows.map(([code]) => code).filter((code) => !known.includes(code ?? ''))).toEqual([]);
  });
});

/** The checks of `npm run docs:check` find what they are for. */
import { describe, expect, it } from 'vitest';
import { importFaults } from '../../scripts/docs/import-table.mjs';
import { widthFaults, wrapped } from '../../scripts/docs/prose-width.mjs';

describe('the table of imports', () => {
  const IMPORTS = {
    low: { own: [], packages: ['node:'], schema: ['zod'] },
    high: { own: ['low'], packages: ['pg', 'ms'], only: { http: ['undici'] } },
  };
  const tableOf = (...rows: readonly string[]) => [
    '# Title',
    '| folder | runs in | own code it may import | packages |',
    '|---|---|---|---|',
    ...rows,
    '',
  ];
  const LOW = '| `low` | anywhere | - | node built-ins; zod in `*.schema.ts` |';
  const HIGH = '| `high` | worker | low | pg, ms (types only); undici in `http` |';

  it('may say what the lint says, with remarks in parentheses', () => {
    expect(importFaults(tableOf(LOW, HIGH), IMPORTS)).toEqual([]);
    const words = HIGH.replace('| low |', '| all but - |');
    expect(importFaults(tableOf(LOW, words), IMPORTS)).toEqual([]);
  });

  it('limits own code to the sub-folder of the lint', () => {
    const limited = { ...IMPORTS, high: { ...IMPORTS.high, ownIn: { http: ['top/part'] } } };
    const words = HIGH.replace('| low |', '| low; top/part in `http` |');
    expect(importFaults(tableOf(LOW, words), limited)).toEqual([]);
    expect(importFaults(tableOf(LOW, HIGH), limited)).toMatchObject([
      { message: 'by IMPORTS of eslint.config.mjs src/high may import also top/part in http' },
    ]);
  });

  it.each([
    ['without a folder', [LOW], 2, 'has no row for src/high'],
    [
      'with an unknown folder',
      [LOW, HIGH, '| `other` | worker | - | - |'],
      6,
      'src/other is not in IMPORTS of eslint.config.mjs',
    ],
    [
      'with other own code',
      [LOW, HIGH.replace('| low |', '| - |')],
      5,
      'by IMPORTS of eslint.config.mjs src/high may import also low',
    ],
    [
      'with other packages',
      [LOW, HIGH.replace('pg, ms', 'pg, pino')],
      5,
      'by IMPORTS of eslint.config.mjs src/high may use not pino, also ms',
    ],
    [
      'with a package in another place',
      [LOW, HIGH.replace('in `http`', 'in `mcp`')],
      5,
      'by IMPORTS of eslint.config.mjs src/high may use not undici in mcp, also undici in http',
    ],
  ])('is refused %s', (_title, rows, line, message) => {
    expect(importFaults(tableOf(...rows), IMPORTS)).toEqual([{ line, message }]);
  });
});

describe('a generated paragraph', () => {
  it('is wrapped between words, and never in code', () => {
    const text = `${'word '.repeat(22)}\`a b c d e\`, ${'word '.repeat(3)}`;
    expect(wrapped(text)).toBe(`${'word '.repeat(22).trim()}\n\`a b c d e\`, word word word`);
    expect(wrapped('short')).toBe('short');
    expect(wrapped('')).toBe('');
  });
});

describe('a line of prose', () => {
  const WIDE = 'word '.repeat(25).trim();

  it('has at most 120 columns, also in a list', () => {
    const exactly = 'x'.repeat(120);
    expect(widthFaults(['# Title', exactly, WIDE, `- ${WIDE}`])).toEqual([
      { line: 3, message: '124 columns of prose; at most 120' },
      { line: 4, message: '126 columns of prose; at most 120' },
    ]);
  });

  it('is none in a table, in a block of code, or as one link', () => {
    const link = `- [title](https://example.com/${'x'.repeat(120)})`;
    expect(widthFaults([`| ${WIDE} |`, '```', WIDE, '```', link])).toEqual([]);
    expect(widthFaults(['```', '```', WIDE])).toHaveLength(1);
  });
});

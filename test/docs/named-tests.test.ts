/** The check of the tests that documents name: they exist, they ran, and no row of a table is gone. */
import { describe, expect, it } from 'vitest';
import {
  faultInReport,
  faultInSource,
  parseName,
  type Report,
} from '../../scripts/named-tests.mjs';

const SOURCE = `
const table = [['a'], ['b']] as const;
describe('a call', () => {
  it('runs', () => {});
  it.each(table)('of %s waits', () => {});
  it.each([[1], [2], [3]])('is tried %i times', () => {});
  it.each(Object.keys(others))('of kind %s', () => {});
  it.skip('is lost', () => {});
  it.todo('is found');
});
describe.skip('a turn', () => {
  it('ends', () => {});
});
describe.each([[1], [2]])('under rule %i', () => {
  it.each(table)('%s holds', () => {});
});
for (const how of hows) it(\`ends \${how}\`, () => {});
stateTable('a state that', {});
`;

const named = (name: string) => {
  const parsed = parseName(name);
  if (parsed === undefined) throw new Error(`not a name: ${name}`);
  return parsed;
};

describe('a name in a document', () => {
  it('has a file and a title', () => {
    expect(parseName('a.test.ts > b > c')).toMatchObject({ file: 'a.test.ts', titles: ['b', 'c'] });
    expect(parseName('a.test.ts > %s c [7]')).toMatchObject({ titles: ['%s c'], rows: 7 });
    expect(parseName('a.test.ts')).toBeUndefined();
    expect(parseName('a.ts > b')).toBeUndefined();
  });
});

describe('by its source, a test', () => {
  it.each([
    'runs',
    'a call > runs',
    'a call > of %s waits [2]',
    'of a waits',
    'is tried %i times [3]',
    'of kind %s [9]',
    'under rule %i > %s holds [4]',
    'ends %s [5]',
    'a state that %s [100]',
  ])('is there: "%s"', (title) => {
    expect(faultInSource(SOURCE, named(`x.test.ts > ${title}`))).toBeUndefined();
  });

  it.each([
    ['run', 'has no test "run"'],
    ['a turn > runs', 'has no test "runs"'],
    ['holds', 'has no test "holds"'],
    ['is lost', 'skips "is lost"'],
    ['a call > is found', 'skips "is found"'],
    ['a turn > ends', 'skips "ends"'],
    ['of %s waits [3]', 'has 2 rows of "of %s waits", not 3'],
    ['under rule %i > %s holds [5]', 'has 4 rows of "%s holds", not 5'],
    ['of %s waits', 'is the title of a table'],
  ])('is not proof: "%s"', (title, fault) => {
    expect(faultInSource(SOURCE, named(`x.test.ts > ${title}`))).toContain(fault);
  });
});

describe('by the report of a run, a test', () => {
  const report = (...tests: readonly (readonly [title: string, status: string])[]): Report => ({
    testResults: [
      {
        name: '/somewhere/test/unit/x.test.ts',
        assertionResults: tests.map(([title, status]) => ({
          ancestorTitles: ['a call'],
          title,
          status,
        })),
      },
    ],
  });
  const fault = (title: string, of: Report, isWhole = true) =>
    faultInReport(of, named(`x.test.ts > ${title}`), { isWhole });
  const rows = report(['of a waits', 'passed'], ['of b waits', 'passed']);

  it('is proof when it ran, and each promised row of its table', () => {
    expect(fault('a call > of %s waits [2]', rows)).toBeUndefined();
    expect(fault('of b waits', rows)).toBeUndefined();
    // A failed test fails the run by itself.
    expect(fault('runs', report(['runs', 'failed']))).toBeUndefined();
  });

  it('is no proof when it was skipped, or a row is gone', () => {
    expect(fault('of %s waits [3]', rows)).toBe('ran 2 rows of "of %s waits", not 3');
    expect(fault('of c waits', rows)).toBe('did not run "of c waits"');
    for (const status of ['skipped', 'pending', 'todo', 'disabled'])
      expect(fault('runs', report(['runs', status]))).toBe('skipped "runs"');
    expect(
      fault('of %s waits [2]', report(['of a waits', 'passed'], ['of b waits', 'pending'])),
    ).toBe('skipped "of b waits"');
  });

  it('whose file is not in the report did not run, unless the run was of a part', () => {
    const other = named('y.test.ts > runs');
    expect(faultInReport(rows, other, { isWhole: true })).toBe('did not run');
    expect(faultInReport(rows, other, { isWhole: false })).toBeUndefined();
  });
});

/**
 * The check of promises: the lists are complete, and each promise has its tests in the source and in the report, and a
 * row on a page.
 */
import { describe, expect, it } from 'vitest';
import {
  listFaults,
  pageOf,
  type Report,
  readPromises,
  reportFaults,
  sourceFaults,
  tagsIn,
} from '../../scripts/promises/index.mjs';
import type { ListedPromise, PromiseLists } from '../../scripts/promises/list.mjs';
import { promise as optionsOf } from '../support/promise.js';

const LISTS = readPromises();
/** The lists with some promises replaced by id; an empty replacement removes one. */
const withChanges = (changes: Readonly<Record<string, readonly ListedPromise[]>>): PromiseLists => {
  const changed = (topics: PromiseLists['guarantees']) =>
    topics.map((topic) => ({
      ...topic,
      promises: topic.promises.flatMap((one) => changes[one.id] ?? [one]),
    }));
  return {
    guarantees: changed(LISTS.guarantees),
    requirements: changed(LISTS.requirements),
  };
};
const messagesWith = (changes: Readonly<Record<string, readonly ListedPromise[]>>) =>
  listFaults(withChanges(changes)).map(({ message }) => message);

describe('the lists of promises', () => {
  it('are complete in the repository', () => {
    expect(listFaults(LISTS)).toEqual([]);
  });

  it.each([
    ...['S1', 'S50', 'A1', 'A57', 'H1', 'H57', 'C1', 'C42', 'X1', 'X50', '2.A.2', 'N8', 'T13'],
    ...['G1', 'G200', 'N30', 'T20', 'K24', '2.A.8', '2.H.4', '2.C.11', '2.X.12'],
  ])('lack %s when its entry is missing', (id) => {
    const messages = messagesWith({ [id]: [] }).filter((text) => !text.includes('no test shows'));
    expect(messages).toEqual([`${id} is missing; mark it instead`]);
  });

  it('may show a rule by the tests of other promises, if these have tests', () => {
    const faults = (by: readonly string[], entry: object = {}) =>
      messagesWith({ K6: [{ id: 'K6', words: 'x', by, ...entry }] });
    expect(faults(['S32', 'X25'])).toEqual([]);
    expect(faults(['S32', 'C39', 'G9999'])).toEqual([
      'K6: no test shows C39',
      'K6: no test shows G9999',
    ]);
    expect(faults([])).toEqual([expect.stringContaining('K6: has neither')]);
    const both = '"by" is for rules and paragraphs without tests of their own';
    expect(faults(['S32'], { tests: 1 })).toEqual([`K6: ${both}`]);
    expect(messagesWith({ A2: [{ id: 'A2', words: 'x', by: ['S32'] }] })).toEqual([`A2: ${both}`]);
  });

  it('have a number of tests or a marked reason in every entry', () => {
    const faults = (entry: Omit<ListedPromise, 'id'>) =>
      messagesWith({ A1: [{ id: 'A1', words: 'x', ...entry }] });
    expect(faults({ tests: 1 })).toEqual([]);
    expect(faults({ tests: 2, later: 'the other half is built with plugins' })).toEqual([]);
    expect(faults({ notApplicable: 'it speaks of another language' })).toEqual([]);
    expect(faults({})).toEqual([
      'A1: has neither a number of "tests" nor a mark: later, notApplicable, withdrawn',
    ]);
    for (const tests of [0, -1, 1.5]) expect(faults({ tests })).toHaveLength(1);
    expect(faults({ later: 'not yet' })).toEqual([
      'A1: "later" has no reason of at least 20 characters',
    ]);
    for (const mark of ['notApplicable', 'withdrawn'])
      expect(faults({ tests: 1, [mark]: 'it speaks of another language' })).toEqual([
        `A1: has tests, so it is not "${mark}"`,
      ]);
    expect(faults({ words: '', tests: 1 })).toEqual(['A1: has no "words"']);
  });

  it('have each id once, and no other', () => {
    const entry = (id: string) => ({ id, words: 'x', tests: 1 });
    expect(messagesWith({ A1: [entry('A1'), entry('A1')] })).toEqual(['A1: has a second entry']);
    expect(messagesWith({ A1: [entry('A58')] })).toEqual([
      'A58: there is no such id',
      'A1 is missing; mark it instead',
    ]);
  });
});

describe('the tags of tests', () => {
  it('are options of the runner, for ids that have tests', () => {
    expect(optionsOf('G1', 'A1')).toEqual({ tags: ['G1', 'A1'] });
    expect(() => optionsOf('G1', 'G9999')).toThrow('no promise with tests: G9999');
  });
});

const SOURCE = `
const table = [['a'], ['b']] as const;
describe('a call', promise('G1'), () => {
  it('runs', promise('G2'), () => {});
  it('runs again', { ...promise('G1', 'G2'), timeout: patient(1) }, () => {});
  it.each(table)('of %s waits', promise('G3'), () => {});
  it.each([[1], [2], [3]])('is tried %i times', promise('G3'), () => {});
});
describe.each([[1], [2]])('under rule %i', () => {
  it.each(table)('%s holds', promise('G4'), () => {});
});
it.each(Object.keys(others))('of kind %s', promise('G5'), () => {});
for (const how of hows) it(\`ends \${how}\`, promise('G6'), () => {});
for (const how of hows) it('ends', promise('G7'), () => {});
stateTable('a state that', promise('G8'), {});
describe('a store', promise('G9'), () => {
  describeStore(aStore);
});
describe('a table', promise('G11'), () => {
  for (const first of all) it(first ? 'one' : 'other', () => {});
});
describe('a file', promise('G10'), () => {
  beforeEach(() => {});
  it('is read', () => {});
});
`;

describe('by the source', () => {
  it('a tag belongs to the titles around it, that of a group to all of its tests', () => {
    const { tags, faults } = tagsIn(SOURCE);
    expect(faults).toEqual([]);
    const titles = (id: string) =>
      tags.filter((tag) => tag.id === id).map((tag) => tag.titles.join(' > '));
    expect(titles('G1')).toEqual(['a call > ...', 'a call > runs again']);
    expect(titles('G2')).toEqual(['a call > runs', 'a call > runs again']);
    expect(titles('G3')).toEqual(['a call > of %s waits', 'a call > is tried %s times']);
    expect(titles('G6')).toEqual(['ends %s']);
    expect(titles('G8')).toEqual(['a state that > ...']);
  });

  it.each([
    ['G1', 7],
    ['G2', 2],
    ['G3', 5],
    ['G4', 4],
    ['G5', Number.POSITIVE_INFINITY],
    ['G6', Number.POSITIVE_INFINITY],
    ['G7', Number.POSITIVE_INFINITY],
    ['G8', Number.POSITIVE_INFINITY],
    ['G9', Number.POSITIVE_INFINITY],
    ['G10', 1],
    ['G11', Number.POSITIVE_INFINITY],
  ])(
    '%s has at most the expected number of tests, with rows counted, each once: %i',
    (id, most) => {
      expect(tagsIn(SOURCE).most.get(id)).toBe(most);
    },
  );

  it('tests of a shared file count for every file that uses it', () => {
    expect(tagsIn(SOURCE, { isShared: true }).most.get('G2')).toBe(Number.POSITIVE_INFINITY);
  });

  it('tests of a file with markup are read, too', () => {
    const source = `it('is shown', promise('G1'), () => show(<p title="a">{text}</p>));`;
    const { tags, faults } = tagsIn(source, { hasMarkup: true });
    expect([tags, faults]).toEqual([
      [{ id: 'G1', titles: ['is shown'], line: 1, isSkipped: false }],
      [],
    ]);
  });

  const faultsOf = (source: string, tests = 1) => {
    const one = { topic: 'x', columns: [], file: 'x.json' };
    const guarantees = [
      {
        ...one,
        promises: [
          { id: 'G1', tests },
          { id: 'G2', withdrawn: 'x' },
        ],
      },
    ];
    const lists = { guarantees, requirements: [] };
    const sources = [{ file: 'x.test.ts', ...tagsIn(source) }];
    return sourceFaults(lists, sources).map(({ message }) => message);
  };

  it.each([
    [`it('a', promise('G1'), () => {});`, []],
    [`it('a', () => {});`, [`G1: no test has promise('G1')`]],
    [`it('a', promise('G1', 'G3'), () => {});`, ['test/promises has no promise G3']],
    [`it('a', promise('G1', 'G2'), () => {});`, ['G2 is marked as one without "tests"']],
    [
      `describe.skip('a', () => { it('b', promise('G1'), () => {}); });`,
      ['skips "a > b", which shows G1', 'G1: 0 tests have its tag, not 1'],
    ],
    [
      `it.todo('a', promise('G1'));`,
      ['skips "a", which shows G1', 'G1: 0 tests have its tag, not 1'],
    ],
    [
      `const tag = promise('G1'); it('a', tag, () => {});`,
      ['promise(...) is not an option of a test', `G1: no test has promise('G1')`],
    ],
    [`it('a', promise('G1', 'G1'), () => {});`, ['"a" has G1 twice']],
    [
      `it('a', promise('G1'), () => {}); it('b', promise(id), () => {});`,
      ['"b": promise(...) takes ids, each written out', 'test/promises has no promise id'],
    ],
  ])('%s has the expected faults', (source, faults) => {
    expect(faultsOf(source)).toEqual(faults);
  });

  it('a promise that has lost a test or a row is reported with both numbers', () => {
    const source = `it.each([[1], [2]])('a %i', promise('G1'), () => {});`;
    expect(faultsOf(source, 2)).toEqual([]);
    expect(faultsOf(source, 3)).toEqual(['G1: 2 tests have its tag, not 3']);
  });
});

describe('by the report of a run', () => {
  const X = 'test/unit/x.test.ts';
  const report = (...tests: readonly (readonly [title: string, status: string])[]): Report => ({
    testResults: [
      {
        name: `/somewhere/${X}`,
        assertionResults: tests.map(([title, status]) => ({ title, status, tags: ['G1'] })),
      },
    ],
  });
  const faults = (of: Report, { files = [X], tests = 2, isWhole = true } = {}) =>
    reportFaults(of, {
      promises: [
        { id: 'G1', tests },
        { id: 'G2', withdrawn: 'x' },
      ],
      files: new Map([['G1', new Set(files)]]),
      isWhole,
    }).map(({ message }) => message);
  const both = report(['a', 'passed'], ['b', 'passed']);

  it('a promise has its tests when they ran', () => {
    expect(faults(both)).toEqual([]);
    // A failed test fails the run by itself.
    expect(faults(report(['a', 'passed'], ['b', 'failed']))).toEqual([]);
  });

  it('a promise lacks a test that was skipped or removed', () => {
    expect(faults(both, { tests: 3 })).toEqual(['ran 2 tests with this tag, not 3']);
    expect(faults(both, { tests: 3, isWhole: false })).toEqual([
      'ran 2 tests with this tag, not 3',
    ]);
    for (const status of ['skipped', 'pending', 'todo', 'disabled'])
      expect(faults(report(['a', 'passed'], ['b', 'passed'], ['c', status]))).toEqual([
        'skipped "c"',
      ]);
  });

  it('a missing file did not run, except in a partial run', () => {
    const files = [X, 'test/e2e/y.test.ts'];
    expect(faults(both, { files, tests: 3 })).toEqual(['test/e2e/y.test.ts did not run']);
    expect(faults(both, { files, tests: 3, isWhole: false })).toEqual([]);
  });

  it('only the tests that need Python may be missing from a whole run', () => {
    const files = [X, 'test/real-model/y.test.ts', 'test/attack/y.test.ts'];
    expect(faults(both, { files, tests: 3 })).toEqual([]);
  });

  it('tests of a shared file are counted in a whole run', () => {
    const files = [X, 'test/support/conformance/y.ts'];
    expect(faults(both, { files, tests: 3, isWhole: false })).toEqual([]);
    expect(faults(both, { files, tests: 3 })).toEqual(['ran 2 tests with this tag, not 3']);
  });
});

describe('the page of a list', () => {
  it('has a table for each topic, with the tests by file and the marks with their reasons', () => {
    const promises = [
      { id: 'A1', words: 'one | two', tests: 1 },
      { id: 'A2', words: 'three', tests: 1, later: 'the other half' },
    ];
    const topics = [{ topic: 'Agentix', columns: ['Promise'], file: 'x.json', promises }];
    const tags = new Map([
      [
        'A1',
        [
          { file: 'test/unit/x.test.ts', titles: ['a', 'b | `c`'] },
          { file: 'test/unit/x.test.ts', titles: ['d'] },
        ],
      ],
      ['A2', [{ file: 'test/http/y.test.ts', titles: ['e', '...'] }]],
    ]);
    const page = pageOf('requirements', { topics, tags });
    const lines = page.split('\n');
    expect(lines.slice(lines.indexOf('## Agentix'))).toEqual([
      '## Agentix',
      '',
      '| Id | Promise | Tests |',
      '|---|---|---|',
      '| A1 | one \\| two | `unit/x.test.ts`: `` a > b \\| `c` ``, `d` |',
      '| A2 | three | `http/y.test.ts`: `e > ...`; _later_: the other half |',
      '',
    ]);
  });
});

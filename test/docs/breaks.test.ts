/** The lines of `npm run break:promises`: each is in its file once, and is of a promise that the named test shows. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { BREAKS } from '../../scripts/promises/breaks/index.mjs';
import { allPromises, readPromises } from '../../scripts/promises/list.mjs';

const read = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

it.each(BREAKS)(
  'the line of $promise in $file can be broken',
  ({ promise, file, line, to, test, tagged = test }) => {
    expect(read(file).split(line)).toHaveLength(2);
    expect(to ?? '').not.toBe(line);
    expect(read(tagged)).toContain(`'${promise}'`);
  },
);

const known = BREAKS.map(({ promise }) => promise);

it('lines are known for all promises from G300 on, and once each', () => {
  const ids = allPromises(readPromises()).map(({ id }) => id);
  const wanted = ids.filter((id) => /^G[34]\d\d$/.test(id));
  expect(known.filter((id) => id.startsWith('G'))).toEqual(wanted.toSorted());
  expect(new Set(known).size).toBe(known.length);
  expect(known.filter((id) => !ids.includes(id))).toEqual([]);
});

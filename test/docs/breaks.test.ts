/** The lines of `npm run break:promises`: each is in its file once, and is of a promise that the named test shows. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { BREAKS } from '../../scripts/promises/breaks.mjs';
import { allPromises, readPromises } from '../../scripts/promises/list.mjs';
import { REQUIREMENT_BREAKS } from '../../scripts/promises/requirement-breaks.mjs';

const read = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

it.each([...BREAKS, ...REQUIREMENT_BREAKS])(
  'the line of $promise in $file can be broken',
  ({ promise, file, line, to, test }) => {
    expect(read(file).split(line)).toHaveLength(2);
    expect(to ?? '').not.toBe(line);
    expect(read(test)).toContain(`'${promise}'`);
  },
);

it('lines are known for all promises from G300 on', () => {
  const ids = allPromises(readPromises()).map(({ id }) => id);
  const wanted = ids.filter((id) => /^G[34]\d\d$/.test(id));
  expect(BREAKS.map(({ promise }) => promise)).toEqual(wanted.toSorted());
});

it('lines of requirements are known once each', () => {
  const ids = REQUIREMENT_BREAKS.map(({ promise }) => promise);
  expect(new Set(ids).size).toBe(ids.length);
  const known = new Set(allPromises(readPromises()).map(({ id }) => id));
  expect(ids.filter((id) => !known.has(id))).toEqual([]);
});

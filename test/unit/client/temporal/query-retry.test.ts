/** Queries that a worker refused, in any version. */
import { expect, it } from 'vitest';
import { isQueryRefused, retryQuery } from '../../../../src/client/temporal/query-retry.js';
import { QUERY_REFUSED } from '../../../../src/protocol/workflow/query-refusal.js';
import { promise } from '../../../support/promise.js';

const BEFORE = [
  'colloquy: an update is on its way to this conversation, ask again (query_refused)',
  'colloquy: a task of this conversation is under way, ask again (query_refused)',
];

it.each([...BEFORE, QUERY_REFUSED])(
  'a refused query is repeated: "%s"',
  promise('G207'),
  async (text) => {
    let asked = 0;
    const answer = await retryQuery(() => {
      asked += 1;
      return asked === 1 ? Promise.reject(new Error(text)) : Promise.resolve('answer');
    });
    expect([answer, asked]).toEqual(['answer', 2]);
  },
);

it('other errors of a query are thrown at once', async () => {
  const broken = () => Promise.reject(new Error('no such query'));
  await expect(retryQuery(broken)).rejects.toThrow('no such query');
  expect(isQueryRefused(QUERY_REFUSED)).toBe(false);
});

it('the refusal has the words by which older clients recognise it', promise('G207'), () => {
  expect(QUERY_REFUSED).toContain(BEFORE[1]);
});

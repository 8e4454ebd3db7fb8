/** The reason of a failure, as the page says it. */

import { ApiError } from 'colloquy/browser';
import { expect, it } from 'vitest';
import { whyOf } from '../../../web/shared/why.js';

it('a failure is said in the words of the API, or of its error', () => {
  const problem = { status: 409, code: 'closed', detail: 'The conversation is closed' };
  expect([whyOf(new Error('No file')), whyOf('odd')]).toEqual(['No file', 'odd']);
  expect(whyOf(new ApiError(problem))).toBe('The conversation is closed');
  expect(whyOf(new ApiError({ ...problem, status: 0 }))).toBe(
    'The API does not answer. Try again.',
  );
});

import { expect, it } from 'vitest';
import { disablePromiseStacks } from '../../../src/workflows/sandbox/promise-stacks.js';

const Own = disablePromiseStacks(Error);

it('an error that is made without a message has no trace, and is an error all the same', () => {
  const error = new Own();
  expect(error.stack).toBeUndefined();
  expect(error).toBeInstanceOf(Own);
  expect(error).toBeInstanceOf(Error);
  expect(error.message).toBe('');
});

it('an error with a message has its trace, its cause and its name', () => {
  const cause = { code: 7 };
  const error = new Own('spoilt', { cause });
  expect(error.stack).toContain('promise-stacks.test.ts');
  expect(error).toMatchObject({ name: 'Error', message: 'spoilt', cause });
  expect(Own('called').message).toBe('called');
});

it('classes of errors are as they were, also without a message', () => {
  class Refused extends Own {
    override readonly name = 'Refused';
  }
  const error = new Refused();
  expect(error.stack).toContain('promise-stacks.test.ts');
  expect(error).toBeInstanceOf(Refused);
  expect(error).toBeInstanceOf(Own);
  expect(new TypeError('x')).toBeInstanceOf(Own);
  expect(Object.getPrototypeOf(Refused.prototype)).toBe(Error.prototype);
});

it('members of the constructor are where they were', () => {
  const bare = {};
  Own.captureStackTrace(bare);
  expect(bare).toHaveProperty('stack');
  expect(Own.stackTraceLimit).toBe(Error.stackTraceLimit);
});

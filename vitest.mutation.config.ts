import { defineConfig } from 'vitest/config';
import { PROMISE_TAGS } from './test/support/promise.js';

/** Tests that need seconds each; they run only against changes that all others let pass: `npm run mutate -- --slow`. */
const SLOW = ['test/exhaustive/**/*.test.ts', 'test/unit/**/*.properties.test.ts'];

/** The tests of `npm run mutate`: those that show what `src/core` does. */
export default defineConfig({
  test: {
    tags: PROMISE_TAGS,
    isolate: false,
    include: [
      'test/exhaustive/**/*.test.ts',
      'test/unit/{core,definitions,kit,protocol,scenarios,sub-agents,workflows}/**/*.test.ts',
      'test/unit/by-hand/sample-answer.test.ts',
    ],
    exclude: process.env['COLLOQUY_MUTATE_SLOW'] === undefined ? SLOW : [],
    testTimeout: 60_000,
  },
});

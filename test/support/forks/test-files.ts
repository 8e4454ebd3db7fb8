/** Runs test files that were written from logs. */
import { expect } from 'vitest';
import { script, testConversation } from '../../../src/testing/index.js';

/** Runs the test of a file, with these values in the place of what it imports from the agent's module. */
export async function runTestFile(
  text: string,
  imported: Readonly<Record<string, unknown>>,
): Promise<void> {
  const body = text.replaceAll(/^import .*$/gm, '');
  const found: (() => Promise<void>)[] = [];
  const given: Readonly<Record<string, unknown>> = {
    ...{ script, testConversation, expect, ...imported },
    test: (_title: string, act: () => Promise<void>) => found.push(act),
  };
  // eslint-disable-next-line @typescript-eslint/no-implied-eval, @typescript-eslint/no-unsafe-call -- a module's text
  new Function(...Object.keys(given), body)(...Object.values(given));
  if (found.length !== 1) throw new Error(`the file has ${found.length} tests`);
  await found[0]?.();
}

/** The retention of a tool's results, as the model sees them in a conversation. */
import { expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent, defineTool } from '../../../../src/index.js';
import { calls, says, scriptedBy, testConversation } from '../../../../src/testing/index.js';
import { promise } from '../../../support/promise.js';

const PAGE = 'x'.repeat(200);

it.each([
  [undefined, true],
  ['when_needed', false],
] as const)(
  'a result of a tool with {turns: 1} in the next turn, with context.retention %s',
  {
    ...promise('A19', 'S44'),
  },
  async (retention, isStub) => {
    const seen: string[] = [];
    const model = scriptedBy(({ messages }) => {
      seen.push(JSON.stringify(messages));
      return seen.length === 1 ? calls('page.read', {}) : says('ok');
    });
    const read = defineTool({
      name: 'page.read',
      description: 'Reads.',
      input: z.object({}),
      retention: { turns: 1 },
      run: () => PAGE,
    });
    const context = retention === undefined ? {} : { context: { retention } };
    const t = testConversation(
      defineAgent({ name: 'a', model, instructions: 'x', tools: [read], ...context }),
    );
    await t.send('one');
    expect(seen.at(-1)).toContain(PAGE);
    await t.send('two');
    expect([seen.at(-1)?.includes(PAGE), seen.at(-1)?.includes('[result expired]')]).toEqual([
      !isStub,
      isStub,
    ]);
  },
);

/** Large results in a test conversation: as an engine with a store has them. */
import { expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent, defineTool, readResults } from '../../../../src/index.js';
import { calls, responds, says, script, testConversation } from '../../../../src/testing/index.js';

const dump = defineTool({
  name: 'disk.dump',
  description: 'd',
  input: z.object({}),
  maxResultBytes: 1_024,
  run: () => `${'x'.repeat(5_000)}the end`,
});

it('a model reads on in a result that was cut, by the id that it was shown', async () => {
  const model = script(
    calls('disk.dump', {}),
    responds(({ messages }) => {
      const id = /stored with id ([0-9a-f]{64})/.exec(JSON.stringify(messages.at(-1)))?.[1];
      return calls('results.read', { id, offset: 5_000 });
    }),
    says('It ends.'),
  );
  const agent = defineAgent({ name: 'a', instructions: 'i', model, tools: [dump, readResults] });
  const t = testConversation(agent);
  await t.send('go');
  expect(t.result('disk.dump')).toMatchObject({
    ok: true,
    result: { truncated: true },
    blob: { bytes: 5_007, type: 'text/plain' },
  });
  expect(t.result('results.read')).toEqual({
    ok: true,
    result: { offset: 5_000, totalBytes: 5_007, text: 'the end' },
  });
});

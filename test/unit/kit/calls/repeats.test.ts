/** The guard against repeated calls, as a user's test sees it. K18. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent, defineTool } from '../../../../src/index.js';
import { calls, callsAll, says, script } from '../../../../src/model/scripted/scripted.js';
import { testConversation } from '../../../../src/testing/test-conversation.js';

const look = defineTool({
  name: 'notes.look',
  description: 'Looks at the notes.',
  input: z.object({ page: z.int().default(1) }),
  run: () => ({ text: 'nothing' }),
});
const RESULT = { ok: true, result: { text: 'nothing' } };
const WARNED = { ...RESULT, notice: expect.stringContaining('2 times') as string };
const REFUSED = { ok: false, error: expect.objectContaining({ code: 'repeated_call' }) as object };

describe('a call that the model repeats', () => {
  it('runs, runs with a warning, and does not run: warn 2, suppress 3', async () => {
    const model = script(
      calls('notes.look', { page: 1 }),
      // The same, once defaults are in.
      calls('notes.look', {}),
      calls('notes.look', { page: 1 }),
      says('It says nothing.'),
    );
    const settings = { repeatLimit: 3 };
    const spec = { name: 'reader', instructions: 'Read.', model, tools: [look] };
    const t = testConversation(defineAgent({ ...spec, settings }));
    await t.send('Read');
    const read = model.requests
      .at(-1)
      ?.messages.flatMap(({ role, parts }) =>
        role === 'tool' ? parts.map((part) => 'envelope' in part && part.envelope) : [],
      );
    expect(read).toEqual([RESULT, WARNED, REFUSED]);
  });

  it('gets the warning also where calls run one after the other', async () => {
    const same = { name: 'notes.look', input: {} };
    const model = script(callsAll([same, same, same]), says('It says nothing.'));
    const settings = { repeatLimit: 3, toolExecution: 'sequential' } as const;
    const spec = { name: 'reader', instructions: 'Read.', model, tools: [look] };
    const t = testConversation(defineAgent({ ...spec, settings }));
    await t.send('Read');
    expect(['call_1', 'call_2', 'call_3'].map((id) => t.result(id))).toEqual([
      RESULT,
      WARNED,
      REFUSED,
    ]);
  });
});

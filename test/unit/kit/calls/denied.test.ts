/** A denied call stays denied: after the end of its turn, a roll-over, a close. */
import { expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent, defineTool } from '../../../../src/index.js';
import { calls, says, script, testConversation } from '../../../../src/testing/index.js';
import { promise } from '../../../support/promise.js';

it(
  'cannot be approved after the end of its turn, a roll-over or a close',
  promise('A12'),
  async () => {
    let runs = 0;
    const remove = defineTool({
      name: 'files.remove',
      description: 'Removes.',
      input: z.object({}),
      approval: 'required',
      run: () => {
        runs += 1;
        return 'gone';
      },
    });
    const model = script(calls('files.remove', {}), says('kept'), says('still kept'));
    const t = testConversation(
      defineAgent({ name: 'a', model, instructions: 'x', tools: [remove] }),
    );
    await t.send('remove it');
    const { toolCallId } = t.pending[0] as { readonly toolCallId: string };
    await t.deny(toolCallId, 'no');
    const approve = async () => (await t.resolve(toolCallId, { type: 'approve' })).verdict;
    expect(await approve()).toBe('stale');
    t.rollOver();
    expect(await approve()).toBe('stale');
    await t.send('and now?');
    expect(await approve()).toBe('stale');
    t.close();
    expect(await approve()).toBe('stale');
    expect(runs).toBe(0);
    expect(t.result(toolCallId)).toMatchObject({ error: { code: 'denied', message: 'no' } });
  },
);

/** Answers that the workflow accepted: the worker checks patterns and refinements, which only it can run. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/define/define-tool.js';
import { environment, key, setUp } from './fixtures.js';

const ask = defineTool({
  name: 'ask',
  description: 'Asks.',
  executor: 'human',
  input: z.object({}),
  output: z.object({ iban: z.string().regex(/^[A-Z]{2}\d+$/) }),
});
const input = { ...key, agent: 'support', toolCallId: 'call_1', name: 'ask' };

describe('an accepted answer', () => {
  const { activities } = setUp({ tools: [ask] });

  it('that passes becomes the result', async () => {
    const value = { iban: 'DE12', other: true };
    expect(await environment().run(activities.checkAnswer, { ...input, value })).toEqual({
      ok: true,
      value: { iban: 'DE12' },
    });
  });

  it('that fails names the field and the rule', async () => {
    const checked = await environment().run(activities.checkAnswer, {
      ...input,
      value: { iban: 'x' },
    });
    expect(checked).toMatchObject({ ok: false, problems: [{ path: '/iban' }] });
  });

  it('of a tool that is gone never reaches the model unchecked', async () => {
    const answer = { ...input, name: 'old', value: 1 };
    // During a deploy another worker may have the tool.
    for (const attempt of [1, 2, 3])
      await expect(
        environment({ attempt }).run(activities.checkAnswer, answer),
      ).rejects.toMatchObject({ type: 'definition_changed', nonRetryable: false });
    expect(await environment({ attempt: 4 }).run(activities.checkAnswer, answer)).toEqual({
      ok: false,
      ended: { code: 'not_available', message: 'Tool "old" no longer available' },
    });
  });

  it('of an agent that this worker lacks is left to other workers', async () => {
    const running = environment().run(activities.checkAnswer, {
      ...input,
      agent: 'sales',
      value: 1,
    });
    await expect(running).rejects.toMatchObject({ type: 'unknown_agent', nonRetryable: false });
  });
});

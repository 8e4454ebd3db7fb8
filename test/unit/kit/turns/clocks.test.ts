/** Deadlines of a user's tools on the virtual clock: defaults, warnings, extensions. */
import { expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../../src/define/define-agent.js';
import { defineTool } from '../../../../src/define/define-tool.js';
import { calls, says, script } from '../../../../src/model/scripted/scripted.js';
import { testConversation } from '../../../../src/testing/test-conversation.js';

const ask = defineTool({
  name: 'customer.ask',
  description: 'Ask',
  executor: 'human',
  input: z.object({}),
  output: z.object({ size: z.string(), count: z.int().default(1) }),
  timeouts: { answer: '1h', total: '3h' },
  warnBefore: '10m',
  onExpire: { default: { size: 'M' } },
});

const asked = async () => {
  const model = script(calls('customer.ask', {}), says('Done.'));
  const agent = defineAgent({ name: 'shop', model, instructions: 'Help.', tools: [ask] });
  const t = testConversation(agent);
  await t.send('hello');
  return t;
};

it('a default answer is the output of the output schema, and is no answer of a person', async () => {
  const t = await asked();
  await t.advance('1h');
  expect(t.result('customer.ask')).toEqual({ ok: true, result: { size: 'M', count: 1 } });
  expect(t.events.findLast((event) => event.type === 'tool_result')).toMatchObject({
    result: { status: 'expired', actor: { id: 'system' } },
  });
});

it('a warning comes before the deadline, and an extension moves both', async () => {
  const t = await asked();
  await t.advance('50m');
  expect(t.eventTypes.at(-1)).toBe('suspension_expiring');
  expect(t.extend('customer.ask', { by: '1h' }).verdict).toBe('accepted');
  await t.advance('30m');
  expect(t.pending).toHaveLength(1);
  expect(t.extend('customer.ask', { until: new Date(t.now.getTime() + 7_200_000) })).toMatchObject({
    verdict: 'invalid',
  });
  await t.advance('30m');
  expect(t.eventTypes.filter((type) => type === 'suspension_expiring')).toHaveLength(2);
  expect(t.text).toBe('');
  await t.advance('10m');
  expect(t.text).toBe('Done.');
});

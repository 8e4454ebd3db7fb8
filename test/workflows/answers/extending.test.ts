import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../src/define/define-agent.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { calls, says, script } from '../../../src/model/scripted/scripted.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { startEngine } from '../../support/engine/engine.js';
import { promise } from '../../support/promise.js';

test('an update moves a deadline, once per request id, and refused extensions leave no history', {
  ...promise('G73'),
}, async () => {
  const model = script(calls('cart.read', {}), says('done'));
  const engine = await startEngine({ agents: [shop(model)], services: ledger() });
  const { talk } = await engine.ask();
  const [before] = await talk.pending();
  const deadline = new Date(Date.parse(before?.deadline ?? '') + 60_000).toISOString();
  const moved = await talk.extend('call_1', { by: '1 minute', requestId: 'r-1' });
  expect(moved).toMatchObject({ verdict: 'accepted', httpStatus: 200, deadline });
  expect(await talk.pending()).toMatchObject([{ deadline }]);
  const length = await engine.history.count(engine.workflowId(talk));
  const again = await talk.extend('call_1', { by: '1 minute', requestId: 'r-1' });
  expect(again).toMatchObject({ verdict: 'duplicate', httpStatus: 200, first: { deadline } });
  expect(await talk.extend('call_1', { by: '2 years' })).toMatchObject({
    verdict: 'invalid',
    httpStatus: 422,
  });
  expect(await talk.extend('call_9', { by: '1h' })).toMatchObject({ httpStatus: 404 });
  expect(await engine.history.count(engine.workflowId(talk))).toBe(length);
  await talk.resolve('call_1', { type: 'result', value: { items: [] } });
  await engine.idle(talk);
  expect(await talk.extend('call_1', { by: '1h' })).toMatchObject({
    verdict: 'stale',
    httpStatus: 409,
  });
  await talk.close();
  expect(await talk.extend('call_1', { by: '1h' })).toMatchObject({ verdict: 'stale' });
});

test('a timer of its own announces the end of a wait, and the default answer follows', {
  ...promise('G74'),
}, async () => {
  const ask = defineTool({
    name: 'size.ask',
    description: 'Ask for the size.',
    executor: 'human',
    input: z.object({}),
    // A wide margin, so that the warning also comes in time on a loaded machine.
    timeouts: { answer: '6s' },
    warnBefore: '5.5s',
    onExpire: { default: 'M' },
  });
  const model = script(calls('size.ask', {}), says('done'));
  const agent = defineAgent({ name: 'shop', model, instructions: 'Help.', tools: [ask] });
  const engine = await startEngine({ agents: [agent], services: undefined });
  const { talk } = await engine.ask();
  await engine.idle(talk);
  expect((await engine.logTypes(talk)).slice(6)).toEqual([
    ...['suspension', 'suspension_expiring', 'expired', 'tool_result'],
    ...['model_call', 'assistant_message', 'turn_ended'],
  ]);
  expect((await engine.log(talk)).find(({ type }) => type === 'tool_result')).toMatchObject({
    result: { status: 'expired', envelope: { ok: true, result: 'M' } },
  });
});

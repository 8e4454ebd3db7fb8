import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../src/define/define-agent.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { calls, says, script } from '../../../src/model/scripted/scripted.js';
import { startEngine } from '../../support/engine/engine.js';
import { promise } from '../../support/promise.js';

test('a client call is shaped, approved and executed in this order, always with the same payload', {
  ...promise('G51', 'S37', 'X31'),
}, async () => {
  const transfer = defineTool({
    name: 'transfer',
    description: 'Transfers.',
    executor: 'client',
    approval: 'required',
    input: z.object({ cents: z.int() }),
    preflight: ({ cents }, ctx) => ({ cents, key: ctx.idempotencyKey, iban: 'DE00' }),
  });
  const model = script(calls('transfer', { cents: 5 }), says('Paid.'));
  const agent = defineAgent({ name: 'bank', instructions: 'Help.', model, tools: [transfer] });
  const engine = await startEngine({ agents: [agent] });
  const { talk, result } = await engine.ask('Pay');
  expect(result).toMatchObject({
    status: 'waiting',
    pending: [{ kind: 'approval', prompt: { cents: 5, iban: 'DE00' } }],
  });
  const [asked] = result.status === 'waiting' ? result.pending : [];
  const options = { argsDigest: asked?.argsDigest ?? '' };
  expect((await talk.resolve('call_1', { type: 'approve' }, options)).verdict).toBe('accepted');
  const [offered] = await talk.pending();
  expect(offered).toMatchObject({ kind: 'client_execution', prompt: asked?.prompt, ...options });
  await talk.resolve('call_1', { type: 'result', value: 'paid' }, options);
  await engine.idle(talk);
  expect((await engine.logTypes(talk)).slice(5, 10)).toEqual([
    ...['tool_call', 'call_prepared', 'suspension', 'resolution', 'suspension'],
  ]);
  expect(JSON.stringify(model.requests)).not.toContain('DE00');
});

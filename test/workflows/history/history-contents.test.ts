/**
 * Contents of Temporal's history, and what must stay out of it: secrets of the worker, credentials of actors, unbounded
 * results.
 */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent, httpTool, initColloquy, secret } from '../../../src/index.js';
import { calls, says, script } from '../../../src/model/scripted/scripted.js';
import { MAX_TOOL_RESULT_BYTES } from '../../../src/protocol/limits/service-limits.js';
import type { Actor } from '../../../src/protocol/values/actors.js';
import { startEngine } from '../../support/engine/engine.js';
import type { HistoryEvent } from '../../support/engine/history.js';
import { promise } from '../../support/promise.js';
import { json, startPeer } from '../../support/servers/http-peer.js';

const SECRET = 'key-of-the-bank-4711';
const TOKEN = 'bearer-of-ann-4712';

/** The text of every payload in a history. */
function textOf(events: readonly HistoryEvent[]): string {
  return JSON.stringify(events, (key, value: unknown) =>
    key === 'data' && typeof value === 'string' ? Buffer.from(value, 'base64').toString() : value,
  );
}

test('neither the services of a worker nor the credentials of an actor reach history, log or model', {
  ...promise('S47'),
}, async () => {
  const { defineTool, defineAgent } = initColloquy<{ services: { secret: string } }>();
  const seen: string[] = [];
  const pay = defineTool({
    name: 'bank.pay',
    description: 'Pays.',
    input: z.object({ cents: z.int() }),
    approval: (_input, { services }) => (services.secret === SECRET ? { ask: {} } : 'allow'),
    run: (_input, { services, approver }) => {
      seen.push(services.secret, approver?.id ?? 'nobody');
      return 'paid';
    },
  });
  const model = script(calls('bank.pay', { cents: 5 }), says('Paid.'));
  const agent = defineAgent({ name: 'bank', instructions: 'Pay.', model, tools: [pay] });
  const engine = await startEngine({ agents: [agent], services: { secret: SECRET } });
  const ann = { id: 'ann', token: TOKEN } as Actor;
  const talk = engine.client.conversation(`secrets-${randomUUID()}`, { agent: 'bank' });
  await talk.send('Pay', { actor: ann });
  await engine.reaches(talk, 'awaiting_input');
  await talk.resolve('call_1', { type: 'approve' }, { actor: ann });
  await engine.idle(talk);
  expect(seen).toEqual([SECRET, 'ann']);
  const history = textOf(await engine.history.events(engine.workflowId(talk)));
  expect(history).toContain('ann');
  for (const text of [
    history,
    JSON.stringify(await engine.log(talk)),
    JSON.stringify(model.requests),
  ]) {
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain(TOKEN);
  }
});

test('an HTTP tool takes its secret from the worker, and the secret is redacted when its service quotes it', {
  ...promise('G138'),
}, async () => {
  const token = 'key-of-the-shop-4713';
  await using peer = await startPeer((request, response) => {
    json({ total: 12, seen: request.headers.authorization })(request, response);
  });
  const findOrder = httpTool({
    name: 'orders.find',
    description: 'Finds an order.',
    input: z.object({ orderId: z.string() }),
    method: 'GET',
    url: `${peer.url}/orders/{orderId}`,
    headers: { authorization: secret(() => token, { prefix: 'Bearer ' }) },
    allowPrivate: ['127.0.0.1'],
  });
  const model = script(calls('orders.find', { orderId: 'A-1' }), says('It costs 12.'));
  const agent = defineAgent({ name: 'shop', instructions: 'Help.', model, tools: [findOrder] });
  const engine = await startEngine({ agents: [agent] });
  const { talk, result } = await engine.ask('What is A-1?');
  expect(result).toMatchObject({ status: 'completed', text: 'It costs 12.' });
  expect(peer.requests[0]?.headers.authorization).toBe(`Bearer ${token}`);
  const history = textOf(await engine.history.events(engine.workflowId(talk)));
  expect(history).toContain('Bearer [redacted]');
  for (const text of [
    history,
    JSON.stringify(await engine.log(talk)),
    JSON.stringify(model.requests),
  ])
    expect(text).not.toContain(token);
});

test('a result of several megabytes is cut with a marker, and the turn continues', {
  ...promise('S48'),
}, async () => {
  const { defineTool, defineAgent } = initColloquy();
  const dump = defineTool({
    name: 'disk.dump',
    description: 'Dumps a disk.',
    input: z.object({}),
    run: () => ({ bytes: 'x'.repeat(5_000_000) }),
  });
  const model = script(calls('disk.dump', {}), says('That was much.'));
  const agent = defineAgent({ name: 'disk', instructions: 'Dump.', model, tools: [dump] });
  const engine = await startEngine({ agents: [agent] });
  const { talk, result } = await engine.ask('Dump it');
  expect(result).toMatchObject({ status: 'completed', text: 'That was much.' });
  const shown = JSON.stringify(model.requests[1]?.messages.at(-1));
  expect(shown).toMatch(
    /\[truncated: \d+ of \d+ bytes shown; all of it is stored with id [0-9a-f]{64}\]/,
  );
  expect(shown.length).toBeLessThan(2 * MAX_TOOL_RESULT_BYTES);
  const history = textOf(await engine.history.events(engine.workflowId(talk)));
  expect(history.length).toBeLessThan(10 * MAX_TOOL_RESULT_BYTES);
});

/** One worker for two tenants, each with services and secrets of its own. */
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { defineConnection, initColloquy, perTenant, secret } from '../../../src/index.js';
import { callsAll, says, script } from '../../../src/testing/index.js';
import { startEngine } from '../../support/engine/engine.js';
import { payloadsIn } from '../../support/engine/history.js';
import { promise } from '../../support/promise.js';
import { startPeer } from '../../support/servers/http-peer.js';

const secretOf = (name: string, tenant: string, user = ''): string =>
  `secret-${name}-${tenant}-${user}-5be07d114a`;
const disposed: string[] = [];
const { defineTool, defineAgent, httpTool } = initColloquy<{
  services: { readonly tenant: string };
}>();
const crm = defineConnection({
  name: 'crm',
  open: async (owner) => ({ key: await owner.secret('crm') }),
  close: ({ key }) => disposed.push(key),
});

test('each tenant gets its own, the peers get the secrets, and no history, log or store has one', {
  ...promise('G333', 'G334', 'G335', 'S47'),
}, async () => {
  const peer = await startPeer(({ headers }, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ seen: headers.authorization }));
  });
  onTestFinished(() => peer[Symbol.asyncDispose]());
  const input = z.object({});
  const both = callsAll([
    { name: 'own', input: {} },
    { name: 'orders.find', input: {} },
  ]);
  const agent = defineAgent({
    name: 'clerk',
    model: script(both, says('done'), both, says('done')),
    instructions: 'Help.',
    tools: [
      defineTool({
        ...{ name: 'own', description: 'Shows.', input },
        run: async (_, ctx) => ({
          tenant: ctx.services.tenant,
          key: (await ctx.connection(crm)).key,
          token: await ctx.secret('token'),
        }),
      }),
      httpTool({
        ...{ name: 'orders.find', description: 'Finds.', input, method: 'GET' },
        url: `${peer.url}/orders`,
        headers: { authorization: secret((ctx) => ctx.secret('orders'), { prefix: 'Bearer ' }) },
        allowPrivate: ['127.0.0.1'],
      }),
    ],
  });
  const lines: string[] = [];
  const log = (message: string, fields?: object): void => {
    lines.push(`${message} ${JSON.stringify(fields ?? {})}`);
  };
  const engine = await startEngine({
    agents: [agent],
    services: perTenant((tenant) => ({ tenant }), {
      dispose: ({ tenant }) => disposed.push(tenant),
    }),
    secrets: ({ name, tenant, user }) => secretOf(name, tenant, user?.id),
    logger: { debug: log, info: log, warn: log, error: log },
  });
  const left: string[] = [];
  for (const tenant of ['north', 'south']) {
    const talk = engine.client.conversation('own', { tenant, agent: 'clerk' });
    const result = await engine.say(talk, 'go', { actor: { id: 'ann' } });
    expect(result).toMatchObject({ status: 'completed' });
    const { events } = await talk.events();
    const results = events.flatMap((event) =>
      event.type === 'tool_result' ? [event.result.envelope] : [],
    );
    expect(results).toMatchObject([
      { ok: true, result: { tenant, key: '[redacted]', token: '[redacted]' } },
      { ok: true, result: { seen: 'Bearer [redacted]' } },
    ]);
    const history = await engine.history.events(`conversation:${tenant}:own`);
    left.push(JSON.stringify(events), JSON.stringify(history));
    left.push(...payloadsIn([history]).map(({ data }) => Buffer.from(data ?? []).toString()));
  }
  expect(peer.requests.map(({ headers }) => headers.authorization)).toEqual(
    ['north', 'south'].map((tenant) => `Bearer ${secretOf('orders', tenant, 'ann')}`),
  );
  expect(left.join() + lines.join()).not.toContain('5be07d114a');
  await engine.stopWorker();
  expect([...disposed].sort()).toEqual(
    ['north', 'south'].flatMap((tenant) => [tenant, secretOf('crm', tenant, 'ann')]).sort(),
  );
});

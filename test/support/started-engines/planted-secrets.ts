/**
 * A conversation whose worker holds secrets of each kind - the key of its model, a header of an HTTP tool, the token
 * of an MCP server, services - and whose every counterpart fails once, quoting the secret that it got.
 */
import { McpServer } from '@modelcontextprotocol/server';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import type { Logger } from '../../../src/define/tool/context.js';
import { initColloquy, secret } from '../../../src/index.js';
import { openaiModel } from '../../../src/model/openai/adapter.js';
import { type EngineOptions, startEngine } from '../engine/engine.js';
import { startMcpServer } from '../mcp/servers.js';
import { startWireServer, type WireAnswer } from '../networks/wire-server.js';
import { PLANTED } from '../samples/planted.js';
import { responsesEvents } from '../samples/wire-events.js';
import { startPeer } from '../servers/http-peer.js';

interface Services {
  readonly vault: string;
}

const { defineTool, defineAgent, httpTool, mcpServer } = initColloquy<{ services: Services }>();

const open = defineTool({
  name: 'vault.open',
  description: 'Opens the vault.',
  input: z.object({}),
  run: (_input, { services }) => ({ opened: services.vault.length > 0 }),
});

/** The text of each kind of server that quotes a key. */
const quoted = (status: number): WireAnswer => ({
  status,
  headers: { 'x-echo': `Bearer ${PLANTED.model}` },
  body: {
    error: {
      message: `Incorrect key Bearer ${PLANTED.model} (${PLANTED.model})`,
      code: PLANTED.model,
      type: PLANTED.model,
    },
  },
});

const call = (id: string, name: string, args: object) => ({
  ...{ id, name, arguments: JSON.stringify(args) },
});

/**
 * Outcomes of the three messages: the first is refused, the second has every accident and an answer, the third is
 * refused again.
 */
const ANSWERS: readonly WireAnswer[] = [
  quoted(401),
  quoted(500),
  { events: responsesEvents({ text: 'I will look.' }), breakOff: { after: 4, how: 'cut' } },
  {
    events: [
      ...responsesEvents({ text: 'I will' }).slice(0, 4),
      {
        ...{ type: 'error', code: PLANTED.model, param: null, sequence_number: 9 },
        message: `overloaded: ${PLANTED.model}`,
      },
    ],
  },
  {
    events: responsesEvents({
      calls: [
        call('call_1', 'orders__find', { orderId: 'refused' }),
        call('call_2', 'orders__find', { orderId: 'found' }),
        call('call_3', 'orders__find', { orderId: 'cut' }),
        call('call_4', 'kit__quote', {}),
        call('call_5', 'vault__open', {}),
      ],
    }),
  },
  { events: responsesEvents({ text: 'That is all.' }) },
  quoted(400),
];

/** Plays the conversation to its end. `logged` has every line of the worker, `sent` every request to the model. */
export async function plantSecrets(options: {
  readonly name: string;
  readonly more?: Partial<EngineOptions<Services>>;
}) {
  let asked = 0;
  const provider = await startWireServer(() => {
    asked += 1;
    return ANSWERS[asked - 1] ?? quoted(500);
  });
  onTestFinished(() => provider.close());
  const peer = await startPeer(({ target, headers }, response) => {
    if (target.endsWith('cut')) {
      response.destroy();
      return;
    }
    const status = target.endsWith('refused') ? 401 : 200;
    const echo = headers.authorization ?? '';
    response.writeHead(status, { 'content-type': 'application/json', 'x-echo': echo });
    response.end(JSON.stringify({ seen: echo, key: PLANTED.tool }));
  });
  onTestFinished(() => peer[Symbol.asyncDispose]());
  const mcp = await startMcpServer(() => {
    const server = new McpServer({ name: 'kit', version: '1.0.0' });
    const annotations = { readOnlyHint: true };
    server.registerTool(
      'quote',
      { description: 'Quotes.', inputSchema: z.object({}), annotations },
      () => ({ content: [{ type: 'text', text: `no: Bearer ${PLANTED.mcp}` }], isError: true }),
    );
    return server;
  });
  mcp.accepts = (authorization) => authorization === `Bearer ${PLANTED.mcp}`;
  const agent = defineAgent({
    name: 'vault',
    model: openaiModel('gpt', {
      baseURL: provider.url,
      api: 'responses',
      apiKey: () => PLANTED.model,
    }),
    instructions: 'Help.',
    tools: [
      httpTool({
        name: 'orders.find',
        description: 'Finds an order.',
        input: z.object({ orderId: z.string() }),
        method: 'GET',
        url: `${peer.url}/orders/{orderId}`,
        headers: { authorization: secret(() => PLANTED.tool, { prefix: 'Bearer ' }) },
        allowPrivate: ['127.0.0.1'],
        effects: 'once',
      }),
      open,
    ],
    mcpServers: [mcpServer({ name: 'kit', url: mcp.url, token: () => PLANTED.mcp })],
  });
  const logged: string[] = [];
  const log: Logger['info'] = (message, fields) => {
    logged.push(`${message} ${JSON.stringify(fields ?? {})}`);
  };
  const engine = await startEngine({
    agents: [agent],
    services: { vault: PLANTED.service },
    logger: { debug: log, info: log, warn: log, error: log },
    audit: 'full',
    ...options.more,
  });
  const talk = engine.begin(options.name);
  const results = [];
  for (const text of ['Hello?', 'What is in the vault?', 'And now?'])
    results.push(await engine.say(talk, text));
  await engine.idle(talk);
  return { engine, talk, results, logged, provider, peer, mcp };
}

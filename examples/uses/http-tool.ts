/** Use: tools that are declared HTTP requests, without code, against a service of this process. */
import { deepEqual } from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { defineAgent, httpTool, openaiModel, secret } from 'colloquy';
import { callsAll, says, script, testConversation } from 'colloquy/testing';
import { z } from 'zod';

/** A service with one order, which requires a token. */
function orderService() {
  return createServer((request, response) => {
    const found = request.url === '/orders/A-1' && request.headers.authorization === 'Bearer hush';
    response.writeHead(found ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(found ? { order: { total: 12 } } : { message: 'No such order' }));
  });
}

function shopAgent(base: string) {
  // #region tools
  const findOrder = httpTool({
    name: 'orders.find',
    description: 'Finds an order by its number.',
    input: z.object({ orderId: z.string().describe('such as A-1') }),
    output: z.object({ total: z.number() }),
    method: 'GET',
    url: `${base}/orders/{orderId}`,
    // The worker reads the environment variable for every call. Its value is in no history, log or result.
    headers: { authorization: secret('ORDERS_TOKEN', { prefix: 'Bearer ' }) },
    result: '/order',
    error: '/message',
    timeouts: { run: '10s' },
    // This service is on loopback; by default only public addresses can be reached.
    allowPrivate: ['127.0.0.1'],
  });

  const cancelOrder = httpTool({
    name: 'orders.cancel',
    description: 'Cancels an order for good.',
    input: z.object({ orderId: z.string(), reason: z.string() }),
    method: 'POST',
    url: `${base}/orders/{orderId}/cancellation`,
    headers: { authorization: secret('ORDERS_TOKEN', { prefix: 'Bearer ' }) },
    approval: 'required',
  });
  // #endregion tools
  return defineAgent({
    name: 'shop',
    model: openaiModel('gpt-5-mini'),
    instructions: 'Help the customer.',
    tools: [findOrder, cancelOrder],
  });
}

/** The model asks for one existing order and one missing order. */
export async function anOrderIsFound(): Promise<void> {
  process.env['ORDERS_TOKEN'] = 'hush';
  const service = orderService();
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  const { port } = service.address() as AddressInfo;
  const agent = shopAgent(`http://127.0.0.1:${port}`);
  const asks = callsAll([
    { name: 'orders.find', id: 'call_1', input: { orderId: 'A-1' } },
    { name: 'orders.find', id: 'call_2', input: { orderId: 'B/2' } },
  ]);
  const t = testConversation(agent, { model: script(asks, says('One of them is there.')) });
  try {
    await t.send('Where are A-1 and B/2?');
    // #region results
    deepEqual(t.result('call_1'), { ok: true, result: { total: 12 } });
    deepEqual(t.result('call_2'), {
      ok: false,
      error: { code: 'tool_error', message: 'HTTP 404 Not Found: No such order' },
    });
    // #endregion results
  } finally {
    delete process.env['ORDERS_TOKEN'];
    await new Promise((resolve) => {
      service.close(resolve);
      service.closeAllConnections();
    });
  }
}

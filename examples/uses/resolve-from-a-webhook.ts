/**
 * A route of your own server decides an approval: the target of an e-mail link, a chat button, or the callback of a
 * payment provider. Once the route is open, only Temporal has to run: without a worker the decision is queued, and
 * counts from the time of its arrival.
 *
 *   npm start                                           in another terminal
 *   node dist/examples/uses/resolve-from-a-webhook.js 3000
 *   curl -s http://127.0.0.1:3000/webhooks/approvals -H 'content-type: application/json' \
 *     -d '{"eventId":"evt-1","ref":"<ref of a call>","approved":true,"by":"ada"}'
 */
import type { AddressInfo } from 'node:net';
import { openColloquy } from 'colloquy/engine';
import express from 'express';
import { z } from 'zod';

// Temporal's own variables say where Temporal is: address, namespace, TLS, API key. The store is that of the workers.
const { client } = await openColloquy({
  store:
    process.env['COLLOQUY_DATABASE_URL'] ?? `${process.env['COLLOQUY_DATA'] ?? '.colloquy'}/log.db`,
}).catch((error: unknown) => {
  console.error((error as Error).message);
  process.exit(1);
});
const app = express();

// #region webhook
const Decision = z.object({
  eventId: z.string(),
  ref: z.string(),
  approved: z.boolean(),
  by: z.string(),
});

app.post('/webhooks/approvals', express.json(), async (request, response) => {
  const decision = Decision.safeParse(request.body);
  if (!decision.success) {
    response.status(400).json(decision.error.issues);
    return;
  }
  const { eventId, ref, approved, by } = decision.data;
  const outcome = await client.resolve(ref, approved ? { type: 'approve' } : { type: 'deny' }, {
    actor: { id: by },
    // The sender's own id: a second delivery is a `duplicate`, and decides nothing.
    requestId: eventId,
  });
  // 200 accepted or duplicate, 202 queued, 403 forbidden, 404 unknown, 409 stale, 410 expired, 422 invalid.
  response.status(outcome.httpStatus).json(outcome);
});
// #endregion webhook

const server = app.listen(Number(process.argv[2] ?? 3_000), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(`webhook http://127.0.0.1:${port}/webhooks/approvals`);
});

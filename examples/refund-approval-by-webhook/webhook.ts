import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ConversationClient } from 'colloquy/client';
import express from 'express';
import { z } from 'zod';

const Decision = z.object({
  eventId: z.string(),
  ref: z.string(),
  approved: z.boolean(),
  by: z.string(),
});

/** A route of your own server, to which a chat tool or a back office sends the decision. */
export async function startWebhook(
  client: ConversationClient,
): Promise<{ readonly url: string; close(): void }> {
  const app = express();
  app.post('/decisions', express.json(), async (request, response) => {
    const decision = Decision.safeParse(request.body);
    if (!decision.success) {
      response.status(400).json(decision.error.issues);
      return;
    }
    const { eventId, ref, approved, by } = decision.data;
    // The sender's own id names the answer: a second delivery is a `duplicate`, and decides nothing.
    const outcome = await client.resolve(
      ref,
      { type: approved ? 'approve' : 'deny' },
      {
        actor: { id: by },
        requestId: eventId,
      },
    );
    response.status(outcome.httpStatus).json(outcome);
  });
  const server = await new Promise<Server>((resolve) => {
    const listening = app.listen(0, '127.0.0.1', () => {
      resolve(listening);
    });
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/decisions`, close: () => server.close() };
}

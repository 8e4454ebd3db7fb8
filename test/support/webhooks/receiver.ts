/** A receiver as its author would write it: checked by `standardwebhooks`, read by `cloudevents`. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CloudEvent, HTTP } from 'cloudevents';
import { Webhook } from 'standardwebhooks';
import { onTestFinished } from 'vitest';
import type { WebhookEvent } from '../../../src/protocol/log/webhook-events.js';

export interface Receiver {
  readonly url: string;
  /** Those whose signature is right, in the order of their arrival, repeats included. */
  readonly events: readonly WebhookEvent[];
  /** Requests that one of the two libraries has refused. */
  readonly refused: readonly string[];
}

export interface ReceiverOptions {
  /** Answers an event that was accepted. @defaultValue 204 */
  readonly answer?: (event: WebhookEvent) => { status: number; headers?: Record<string, string> };
  /** Called before the answer. */
  readonly onEvent?: (event: WebhookEvent) => Promise<void> | void;
}

export async function startReceiver(
  secret: string,
  { answer = () => ({ status: 204 }), onEvent }: ReceiverOptions = {},
): Promise<Receiver> {
  const events: WebhookEvent[] = [];
  const refused: string[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      try {
        const event = await eventIn(request, secret);
        events.push(event);
        await onEvent?.(event);
        const { status, headers = {} } = answer(event);
        response.writeHead(status, headers).end();
      } catch (error) {
        refused.push(String(error));
        response.writeHead(400).end();
      }
    })();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => {
      server.close(resolve);
    });
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook`, events, refused };
}

async function eventIn(request: IncomingMessage, secret: string): Promise<WebhookEvent> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString('utf8');
  const headers = request.headers as Record<string, string>;
  const verified = new Webhook(secret).verify(body, headers) as WebhookEvent;
  const cloudEvent = HTTP.toEvent({ headers, body });
  if (!(cloudEvent instanceof CloudEvent)) throw new Error('one event, not several');
  cloudEvent.validate();
  if (cloudEvent.id !== headers['webhook-id']) throw new Error('the ids differ');
  return verified;
}

/**
 * A server of a model provider that answers each request by a script: with a status, with events, or by breaking off.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One answer. Without `status` a stream of events. */
export interface WireAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Body of an answer with a status. */
  readonly body?: unknown;
  /** Data of server-sent events, one by one. */
  readonly events?: readonly object[];
  /** After so many events: the connection is cut, the JSON is malformed, no more events come, or the stream ends. */
  readonly breakOff?: {
    readonly after: number;
    readonly how: 'cut' | 'malformed' | 'stall' | 'end';
  };
  /** Delay before every event. */
  readonly delayMs?: number;
}

export interface WireRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Readonly<Record<string, unknown>>;
  /** `closed`: the client hung up before the answer was whole. */
  outcome: 'open' | 'answered' | 'closed';
}

export interface WireServer {
  /** With the `/v1`. */
  readonly url: string;
  readonly requests: readonly WireRequest[];
  close(): Promise<void>;
}

export async function startWireServer(
  answer: (request: WireRequest) => WireAnswer,
): Promise<WireServer> {
  const requests: WireRequest[] = [];
  const server = createServer((request, response) => {
    void serve(request, response, (seen) => {
      requests.push(seen);
      return answer(seen);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  answerTo: (seen: WireRequest) => WireAnswer,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString() || '{}') as WireRequest['body'];
  const seen: WireRequest = {
    path: request.url ?? '',
    headers: request.headers,
    body,
    outcome: 'open',
  };
  response.once('close', () => {
    seen.outcome = response.writableFinished ? 'answered' : 'closed';
  });
  const { status, headers = {}, body: said, events = [], breakOff, delayMs } = answerTo(seen);
  if (status !== undefined) {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(said ?? { error: { message: 'No.' } }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
  response.flushHeaders();
  for (const [index, event] of events.entries()) {
    await new Promise((resolve) =>
      delayMs ? setTimeout(resolve, delayMs) : setImmediate(resolve),
    );
    if (response.destroyed) return;
    if (index === breakOff?.after) {
      if (breakOff.how === 'cut') response.destroy();
      if (breakOff.how === 'malformed') response.end('data: {"type":"response.outp\n\n');
      if (breakOff.how === 'end') response.end();
      return;
    }
    const { type } = event as { readonly type?: string };
    const named = type === undefined ? '' : `event: ${type}\n`;
    response.write(`${named}data: ${JSON.stringify(event)}\n\n`);
  }
  response.end('data: [DONE]\n\n');
}

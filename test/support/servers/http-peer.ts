/** A service on loopback for tools that are HTTP requests, and one run of such a tool as a worker makes it. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CallContext, ToolLogger } from '../../../src/define/tool/context.js';
import { portAccess } from '../../../src/define/tool/ports.js';
import type { AnyTool } from '../../../src/define/tool/types.js';
import type { Json } from '../../../src/protocol/values/json.js';
import { runToolCall, type ToolRunEnd } from '../../../src/tools/run/run.js';
import { accessTo, StateView } from '../../../src/tools/shared/state-view.js';
import { NO_SECRETS } from '../builders/scopes.js';
import { NO_TRIGGERS } from '../samples/no-triggers.js';
import { ended } from '../samples/tool-ends.js';

export interface SeenRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly target: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface Peer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly requests: readonly SeenRequest[];
  /** Counts of sockets that were opened to the service, and that are open. */
  readonly sockets: { opened: number; open: number };
}

export type Answer = (request: SeenRequest, response: ServerResponse) => void;

export async function startPeer(answer: Answer): Promise<Peer> {
  const requests: SeenRequest[] = [];
  const sockets = { opened: 0, open: 0 };
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const { method = '', url = '', headers } = incoming;
      const seen = { method, target: url, headers, body: Buffer.concat(chunks).toString() };
      requests.push(seen);
      answer(seen, response);
    });
  });
  server.on('connection', (socket) => {
    sockets.opened += 1;
    sockets.open += 1;
    socket.on('close', () => {
      sockets.open -= 1;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    sockets,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Answers with JSON. */
export function json(value: unknown, status = 200): Answer {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(value));
  };
}

/** Answers with a body of any content type. */
export function body(content: string | Buffer, type: string, status = 200): Answer {
  return (_request, response) => {
    response.writeHead(status, type === '' ? {} : { 'content-type': type });
    response.end(content);
  };
}

interface RunOptions {
  readonly input?: Json;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly services?: unknown;
  /** @defaultValue 'default' */
  readonly tenant?: string;
  /** Every logged line, as one text. */
  readonly log?: string[];
  readonly idempotencyKey?: string;
  /** Addresses of the API that the worker knows. */
  readonly apiUrls?: readonly string[];
}

export async function runHttpTool(tool: AnyTool, options: RunOptions = {}): Promise<ToolRunEnd> {
  const { input = {}, timeoutMs, log = [], services, idempotencyKey = 'key-1' } = options;
  const { signal = new AbortController().signal, tenant = CONTEXT.tenant } = options;
  return runToolCall({
    tool,
    input,
    signal,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    apiUrls: options.apiUrls,
    ctx: { ...CONTEXT, tenant, idempotencyKey, services: services as never, logger: loggerTo(log) },
  });
}

/** The result, when there is one. */
export async function envelopeOf(tool: AnyTool, options: RunOptions = {}) {
  return ended(await runHttpTool(tool, options)).envelope;
}

/** The text of the error; throws with any other end. */
export async function errorOf(tool: AnyTool, options: RunOptions = {}): Promise<string> {
  const envelope = await envelopeOf(tool, options);
  return envelope.ok ? `no error: ${JSON.stringify(envelope.result)}` : envelope.error.message;
}

function loggerTo(log: string[]): ToolLogger {
  const write = (...line: readonly unknown[]): void => {
    log.push(JSON.stringify(line));
  };
  return { debug: write, info: write, warn: write, error: write, event: write };
}

const CONTEXT: Omit<CallContext<never>, 'signal' | 'logger'> = {
  agent: 'a',
  tenant: 'default',
  conversationId: 'c',
  turnId: 't',
  step: 1,
  toolCallId: 'call_1',
  idempotencyKey: 'key-1',
  requester: { id: 'u', verified: true, channel: 'api' },
  attempt: 1,
  run: 1,
  asks: 0,
  progress: () => undefined,
  ...accessTo(new StateView([], {})),
  services: undefined as never,
  ...NO_SECRETS,
  storedResults: { read: () => Promise.resolve(undefined) },
  ...portAccess(),
  triggers: NO_TRIGGERS,
};

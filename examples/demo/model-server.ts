/**
 * A SCRIPTED model server: it speaks the OpenAI protocol and answers from a script. It is not an AI and needs no key.
 * It serves the demo without a key and the tests, which also make it fail. It listens on loopback only.
 *
 *     node dist/examples/demo/model-server.js [port]
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import {
  apiError,
  type ChatBody,
  completionOf,
  parseChatBody,
  scriptRequestOf,
  streamChunks,
  type WireError,
} from './model-wire.js';
import { DEMO_SCRIPT, type ScriptAnswer, type ScriptRequest } from './script.js';

/** An answer, with optional faults. */
export interface ServerAnswer extends ScriptAnswer {
  /** Sent in place of the text and calls. */
  readonly failure?: WireError & { readonly headers?: Readonly<Record<string, string>> };
  /**
   * Breaks the stream after so many chunks: `how` selects the connection, the JSON, a missing end, an error of the
   * server, or a stall.
   */
  readonly breakOff?: {
    readonly afterChunks: number;
    readonly how: 'cut' | 'malformed' | 'end' | 'error' | 'stall';
  };
  /** @defaultValue 'tool_calls' with calls, else 'stop' */
  readonly finishReason?: string;
  /** Overrides the delay of the server. */
  readonly chunkDelayMs?: number;
}

export interface ModelServerOptions {
  /** @defaultValue any free port */
  readonly port?: number;
  /** A pure function: all of its input is in the request. */
  readonly script: (request: ScriptRequest) => ServerAnswer;
  /** Pause before every chunk. @defaultValue 0 */
  readonly chunkDelayMs?: number;
}

/** One request as the server received it. */
export interface SeenRequest {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: unknown;
  /** `closed`: the client disconnected before the whole answer was sent. */
  outcome: 'open' | 'answered' | 'closed';
}

export interface ModelServer {
  /** The value for OPENAI_BASE_URL, with the `/v1`. */
  readonly url: string;
  readonly port: number;
  /** All requests, oldest first. */
  readonly requests: readonly SeenRequest[];
  /** Drops the requests for which `isOver` is true, because each holds a whole transcript. */
  forget(isOver: (request: SeenRequest) => boolean): void;
  /** Closes every connection. */
  close(): Promise<void>;
}

/** Starts the server. @throws when the port is taken */
export async function startModelServer(options: ModelServerOptions): Promise<ModelServer> {
  const requests: SeenRequest[] = [];
  const server = createServer((request, response) => {
    void serve({ request, response, options, requests }).catch((error: unknown) => {
      // The script threw, or the request is of an unexpected shape.
      console.error(error);
      if (response.headersSent) response.destroy();
      else sendError(response, { status: 500, message: String(error) });
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    port,
    requests,
    forget: (isOver) => {
      requests.splice(0, requests.length, ...requests.filter((request) => !isOver(request)));
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly options: ModelServerOptions;
  readonly requests: SeenRequest[];
}

async function serve({ request, response, options, requests }: Exchange): Promise<void> {
  const path = (request.url ?? '/').split('?')[0] ?? '/';
  const text = await readBody(request);
  const body = text === '' ? undefined : parseJson(text);
  const { authorization } = request.headers;
  const seen: SeenRequest = { path, authorization, body, outcome: 'open' };
  requests.push(seen);
  response.once('close', () => {
    seen.outcome = response.writableFinished ? 'answered' : 'closed';
  });
  if (request.method === 'GET' && path === '/v1/models') {
    sendJson(response, 200, {
      object: 'list',
      data: [{ id: 'scripted', object: 'model', created: 0, owned_by: 'colloquy-demo' }],
    });
    return;
  }
  if (request.method !== 'POST' || path !== '/v1/chat/completions') {
    const message = `Invalid URL (${request.method ?? ''} ${path})`;
    sendError(response, { status: 404, message, type: 'invalid_request_error' });
    return;
  }
  const chat = parseChatBody(body);
  if ('status' in chat) sendError(response, chat);
  else await answerChat(response, chat, options);
}

async function answerChat(
  response: ServerResponse,
  body: ChatBody,
  options: ModelServerOptions,
): Promise<void> {
  const answer = options.script(scriptRequestOf(body));
  if (answer.failure !== undefined) {
    sendError(response, answer.failure, answer.failure.headers);
    return;
  }
  if (!body.stream) {
    sendJson(response, 200, completionOf(body, answer));
    return;
  }
  await stream(response, streamChunks(body, answer), {
    breakOff: answer.breakOff,
    delayMs: answer.chunkDelayMs ?? options.chunkDelayMs ?? 0,
  });
}

async function stream(
  response: ServerResponse,
  chunks: readonly object[],
  how: { readonly breakOff: ServerAnswer['breakOff']; readonly delayMs: number },
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  response.flushHeaders();
  for (const [index, chunk] of chunks.entries()) {
    // Waits for at least one turn of the event loop, so that chunks are sent one by one.
    await new Promise((resolve) => setTimeout(resolve, how.delayMs));
    if (response.destroyed) return;
    if (index === how.breakOff?.afterChunks) {
      breakOff(response, how.breakOff.how);
      return;
    }
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  }
  response.end('data: [DONE]\n\n');
}

function breakOff(
  response: ServerResponse,
  how: NonNullable<ServerAnswer['breakOff']>['how'],
): void {
  switch (how) {
    case 'cut':
      response.destroy();
      return;
    case 'malformed':
      response.end('data: {"id":"chatcmpl-1","choices":[{"delta":{"con\n\n');
      return;
    case 'end':
      response.end();
      return;
    case 'error': {
      const error = { status: 500, message: 'The server had an error', type: 'server_error' };
      response.end(`data: ${JSON.stringify(apiError(error))}\n\n`);
      return;
    }
    case 'stall':
      return;
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function sendError(
  response: ServerResponse,
  error: WireError,
  headers: Readonly<Record<string, string>> = {},
): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  sendJson(response, error.status, apiError(error));
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

async function main(): Promise<void> {
  const port = Number(process.argv[2] ?? 0);
  const server = await startModelServer({ port, script: DEMO_SCRIPT, chunkDelayMs: 30 });
  console.log(`SCRIPTED model, not an AI: it answers every request from examples/demo/script.ts.
It speaks the OpenAI protocol and needs no key. Use it with:

  export OPENAI_BASE_URL=${server.url}
`);
}

const program = process.argv[1];
if (program !== undefined && import.meta.url === pathToFileURL(program).href) await main();

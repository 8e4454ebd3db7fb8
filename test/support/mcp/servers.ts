/**
 * MCP servers in the process of a test, on loopback: of the current protocol, and of the one before. Closed when the
 * test ends.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import type { McpServer } from '@modelcontextprotocol/server';
import { createMcpHandler, isInitializeRequest } from '@modelcontextprotocol/server';
import { onTestFinished } from 'vitest';

export interface SeenRequest {
  readonly authorization: string | undefined;
  readonly headers: IncomingMessage['headers'];
  /** HTTP method. */
  readonly verb: string;
  /** JSON-RPC method. */
  readonly method: string;
}

interface Message {
  readonly id?: string | number;
  readonly method?: string;
}

export interface TestMcpServer {
  readonly url: string;
  readonly seen: readonly SeenRequest[];
  /** Answers every request with this status instead, while it is set. */
  refuseWith: number | undefined;
  /** Answers a request itself where this returns true, as broken or malicious servers do. */
  instead: (message: Message, response: ServerResponse) => boolean;
  /** Decides about a request by its token. */
  accepts: (authorization: string | undefined) => boolean;
  /** Makes an old server forget all of its sessions. */
  forget(): void;
  /** Sessions of an old server. */
  readonly instances: ReadonlySet<McpServer>;
  /** Notifies clients that the list of tools has changed; an old server's instances do so themselves. */
  toolsChanged(): void;
  /** Cuts every connection and accepts no more. */
  stop(): Promise<void>;
  /** Serves again at the same address. */
  start(): Promise<void>;
}

type Handle = (
  request: IncomingMessage,
  response: ServerResponse,
  body: unknown,
) => Promise<unknown>;

/** A server of protocol 2026-07-28. */
export async function startMcpServer(make: () => McpServer): Promise<TestMcpServer> {
  const handler = createMcpHandler(() => make());
  const node = toNodeHandler(handler);
  const server = await serve((request, response, body) => node(request as never, response, body));
  onTestFinished(() => handler.close());
  return Object.assign(server, {
    toolsChanged: () => {
      handler.notify.toolsChanged();
    },
  });
}

/** A server of protocol 2025-11-25: with sessions, and questions that are pushed into open calls. */
export async function startOldMcpServer(make: () => McpServer): Promise<TestMcpServer> {
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  const servers = new Set<McpServer>();
  const server = await serve(async (request, response, body) => {
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? sessions.get(id) : undefined;
    if (known !== undefined) return known.handleRequest(request, response, body);
    if (!isInitializeRequest(body)) {
      const code = typeof id === 'string' ? 404 : 400;
      const error = { code: -32_000, message: 'no session' };
      response.writeHead(code, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', error, id: null }));
      return undefined;
    }
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (sessionId) => {
        sessions.set(sessionId, transport);
      },
    });
    const made = make();
    servers.add(made);
    await made.connect(transport);
    return transport.handleRequest(request, response, body);
  });
  return Object.assign(server, {
    instances: servers,
    forget: () => {
      sessions.clear();
    },
  });
}

async function serve(handle: Handle): Promise<TestMcpServer> {
  const seen: SeenRequest[] = [];
  let listener = createServer();
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    void bodyOf(request).then(async (body) => {
      const { authorization } = request.headers;
      const messages = (Array.isArray(body) ? body : [body]) as readonly (Message | undefined)[];
      const { headers, method: verb = '' } = request;
      for (const message of messages)
        seen.push({ authorization, headers, verb, method: message?.method ?? '' });
      const refusal = server.accepts(authorization) ? server.refuseWith : 401;
      if (refusal === undefined && server.instead(messages[0] ?? {}, response)) return undefined;
      if (refusal === undefined) return handle(request, response, body);
      response.writeHead(refusal, { 'content-type': 'text/plain' });
      return response.end(`refused ${authorization ?? 'nobody'}`);
    });
  };
  const listen = async (port: number): Promise<number> => {
    listener = createServer(answer);
    await new Promise<void>((resolve) => listener.listen(port, '127.0.0.1', resolve));
    return (listener.address() as AddressInfo).port;
  };
  const port = await listen(0);
  const server: TestMcpServer = {
    url: `http://127.0.0.1:${port}/mcp`,
    seen,
    refuseWith: undefined,
    instead: () => false,
    accepts: () => true,
    instances: new Set(),
    toolsChanged: () => undefined,
    forget: () => undefined,
    stop: async () => {
      const closed = new Promise((resolve) => listener.close(resolve));
      listener.closeAllConnections();
      await closed;
    },
    start: async () => {
      await listen(port);
    },
  };
  onTestFinished(() => server.stop());
  return server;
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text === '' ? undefined : (JSON.parse(text) as unknown);
}

/**
 * A connection of a worker to one MCP server: made on first use, made again after a loss, closed with the worker. Runs
 * in the worker.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type {
  CallToolResult,
  Client,
  jsonSchemaValidator,
  Tool,
} from '@modelcontextprotocol/client';
import {
  MAX_MCP_LIST_PAGES,
  MCP_FAREWELL_MS,
  MCP_PROGRESS_MS,
} from '../../../define/mcp/limits.js';
import type { AnyMcpServer } from '../../../define/mcp/server.js';
import { problemText, validateJson } from '../../../define/schemas/validate.js';
import { relaxedSchema } from '../../../json-schema/relaxed.js';
import type { JsonSchema } from '../../../protocol/values/json.js';
import { isRecord, type Json } from '../../../protocol/values/json.js';
import { Redactor } from '../../shared/redact.js';
import { reasonIn, ServerUnreachable } from './failures.js';
import { LostStreams } from './lost-streams.js';
import type { ElicitAnswer } from './questions.js';
import { type McpConnectionWorker, openTransport, type Way } from './transport.js';

/** An open call; takes the questions that an older server asks in the middle of it. */
export interface OpenCall {
  /** True while the server waits for an answer of this call: another question does not belong to it. */
  readonly isWaiting: boolean;
  push(params: unknown): PushAnswer | Promise<PushAnswer>;
}

/** `later`: the call is given up, and made again when there is an answer. */
export type PushAnswer = ElicitAnswer | { readonly action: 'cancel' } | 'later';

/** An established connection. */
export interface Session {
  readonly client: Client;
  readonly openCalls: Set<OpenCall>;
  readonly endSession: Way['endSession'];
}

export interface CallRequest {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly inputResponses?: Readonly<Record<string, ElicitAnswer>>;
  readonly requestState?: string;
}

export interface CallDeps {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Json) => void;
  /** The listed definition, if the tool was listed. */
  readonly definition?: Tool | undefined;
  readonly openCall: OpenCall;
}

/** The tool has its own timeouts; the client must not have a shorter one. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** Environment variables of a process count as secrets as well. Shorter ones are often ordinary words. */
const MIN_SECRET_CHARS = 6;
/** Tokens are renewed; a response to an old one may still arrive. */
const MAX_REMEMBERED_SECRETS = 32;

export class McpConnection {
  readonly secrets = new Redactor({
    minChars: MIN_SECRET_CHARS,
    maxSecrets: MAX_REMEMBERED_SECRETS,
  });
  readonly #server: AnyMcpServer;
  readonly #worker: McpConnectionWorker;
  readonly #onToolsChanged: () => void;
  #session: Promise<Session> | undefined;
  #isClosed = false;

  constructor(server: AnyMcpServer, worker: McpConnectionWorker, onToolsChanged: () => void) {
    this.#server = server;
    this.#worker = worker;
    this.#onToolsChanged = onToolsChanged;
  }

  /** @throws the error of connecting. Concurrent callers share one attempt. */
  async session(): Promise<Session> {
    if (this.#isClosed) throw new ServerUnreachable('the worker is stopping');
    if (this.#session !== undefined) return this.#session;
    const session = this.#open();
    this.#session = session;
    session.catch(() => {
      this.#forget(session);
    });
    return session;
  }

  /** Every tool that the server lists, page by page. @throws errors of the client */
  async list(): Promise<readonly unknown[]> {
    const { client } = await this.session();
    const { tools } = await client.listTools(undefined, {
      timeout: this.#server.listMs,
      cacheMode: 'refresh',
    });
    return tools;
  }

  /** Sends one request. @throws errors of the client */
  async call(session: Session, request: CallRequest, deps: CallDeps): Promise<unknown> {
    const { signal, onProgress, definition, openCall } = deps;
    const { client, openCalls } = session;
    openCalls.add(openCall);
    let shownAt = -Infinity;
    try {
      const answer: CallToolResult = await client.callTool(request, {
        signal,
        timeout: NO_TIMEOUT_MS,
        allowInputRequired: true,
        onprogress: ({ progress, total, message }) => {
          // Watchers can follow no faster, and a server may report every byte.
          if (performance.now() - shownAt < MCP_PROGRESS_MS) return;
          shownAt = performance.now();
          onProgress({
            progress,
            ...(total === undefined ? {} : { total }),
            ...(message === undefined ? {} : { message: this.secrets.text(message) }),
          });
        },
        ...(definition === undefined ? {} : { toolDefinition: definition }),
      });
      return answer;
    } finally {
      openCalls.delete(openCall);
    }
  }

  /** Gives a connection up, so that the next use makes a new one. */
  async drop(session: Session): Promise<void> {
    const current = this.#session;
    if (current !== undefined && (await current.catch(() => undefined)) === session)
      this.#forget(current);
    await session.client.close().catch(() => undefined);
  }

  /** Closes for good: ends the session at the server and stops a process that was started. Never throws. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const session = await this.#session?.catch(() => undefined);
    if (session === undefined) return;
    await farewell(session);
    await session.client.close().catch(() => undefined);
  }

  #forget(session: Promise<Session>): void {
    if (this.#session === session) this.#session = undefined;
  }

  async #open(): Promise<Session> {
    const { name, connectMs } = this.#server;
    const { logger } = this.#worker;
    const { Client: McpClient } = await import('@modelcontextprotocol/client');
    const { transport, endSession } = await openTransport({
      ...this.#worker,
      server: this.#server,
      secrets: this.secrets,
    });
    const client = new McpClient(
      { name: 'colloquy', version: '1' },
      {
        capabilities: { elicitation: { form: {}, url: {} } },
        inputRequired: { autoFulfill: false },
        versionNegotiation: { mode: 'auto', probe: { timeoutMs: Math.ceil(connectMs / 2) } },
        jsonSchemaValidator: checkedByUs,
        listMaxPages: MAX_MCP_LIST_PAGES,
        listChanged: {
          tools: {
            autoRefresh: false,
            debounceMs: 50,
            onChanged: () => {
              this.#onToolsChanged();
            },
          },
        },
      },
    );
    const openCalls = new Set<OpenCall>();
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      const answer = await pushTo(openCalls, params);
      // An error, not an answer: the server must not act on it as a decision of the user.
      if (answer === 'later')
        throw new Error('The question cannot be asked now; the call is made again');
      if (answer.action === 'cancel')
        logger.warn('MCP server asked in the middle of a call; the question was cancelled', {
          mcpServer: name,
        });
      return answer as never;
    });
    client.onerror = (error) => {
      const reason = reasonIn(error, (text) => this.secrets.text(text));
      logger.debug('MCP connection has a problem', { mcpServer: name, reason });
    };
    const lost = new LostStreams(transport);
    await client.connect(transport, { timeout: connectMs });
    lost.watch();
    const session = { client, openCalls, endSession };
    const current = this.#session;
    client.onclose = () => {
      if (current !== undefined) this.#forget(current);
      if (!this.#isClosed) logger.info('MCP connection was closed', { mcpServer: name });
    };
    if (this.#isClosed) await client.close();
    return session;
  }
}

/** An old server keeps its session until it is notified of the end; the wait for its response is bounded. */
async function farewell({ endSession }: Session): Promise<void> {
  if (endSession === undefined) return;
  const over = new AbortController();
  const waited = delay(MCP_FAREWELL_MS, undefined, { signal: over.signal });
  await Promise.race([endSession(), waited]).catch(() => undefined);
  over.abort();
  await waited.catch(() => undefined);
}

/**
 * The protocol does not say to which call an older server's question belongs: that is known only while there is a
 * single one.
 */
function pushTo(
  openCalls: ReadonlySet<OpenCall>,
  params: unknown,
): PushAnswer | Promise<PushAnswer> {
  const [only, ...others] = [...openCalls].filter(({ isWaiting }) => !isWaiting);
  if (only === undefined) return { action: 'cancel' };
  if (others.length === 0) return only.push(params);
  const message = isRecord(params) ? params['message'] : undefined;
  for (const call of [only, ...others]) void call.push({ ambiguous: true, message });
  return { action: 'cancel' };
}

/** In the form that the client expects. */
export const checkedByUs: jsonSchemaValidator = {
  getValidator: (schema) => {
    const relaxed = { jsonSchema: relaxedSchema(schema as JsonSchema) };
    return (input) => {
      const checked = validateJson(relaxed, input);
      return checked.ok
        ? { valid: true, data: input as never, errorMessage: undefined }
        : { valid: false, data: undefined, errorMessage: problemText(checked.problems) };
    };
  },
};

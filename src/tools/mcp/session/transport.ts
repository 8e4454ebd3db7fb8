/**
 * Opens the transport to one MCP server: HTTP with credentials resolved at every request, or a child process. Loads the
 * client when the first connection is made, because most workers have no MCP server. Runs in the worker.
 */
import type { Stream } from 'node:stream';
import type { FetchLike, Transport } from '@modelcontextprotocol/client';
import {
  MAX_MCP_MESSAGE_BYTES,
  MAX_MCP_RECONNECT_MS,
  MAX_MCP_STDERR_LINE_CHARS,
  MAX_MCP_STDERR_LINES,
  MIN_MCP_RECONNECT_MS,
} from '../../../define/mcp/limits.js';
import type { Logger } from '../../../define/tool/context.js';
import type { Scopes } from '../../scope/scopes.js';
import type { Redactor } from '../../shared/redact.js';
import { boundedFetch } from './bounded-fetch.js';
import { type CredentialsNeeds, fetchWithCredentials, resolved } from './credentials.js';
import { endsWithWorker } from './processes.js';

/** The worker's parts that a transport needs. */
export interface McpWorker {
  /** The services and secrets of the resolvers. */
  readonly scopes: Scopes;
  readonly logger: Logger;
  /**
   * A task queue that only this worker polls, from the first call on: a held call continues there. Absent: no call is
   * held.
   * @throws when it cannot be polled
   */
  readonly ownQueue?: () => Promise<string>;
  /** Addresses of the API of this installation, which no server is reached at whose addresses are checked. */
  readonly apiUrls?: readonly string[] | undefined;
}

/** The dependencies of a connection for one caller, or for the worker itself. */
export type McpConnectionWorker = McpWorker &
  Pick<CredentialsNeeds, 'caller'> & {
    /** The server comes from outside: it is reached at public addresses, unless it allows others. @defaultValue false */
    readonly isGuarded?: boolean | undefined;
  };

type Opening = CredentialsNeeds & Pick<McpConnectionWorker, 'apiUrls' | 'isGuarded'>;

export interface Way {
  /** Not started yet. */
  readonly transport: Transport;
  /** Ends the session at the server, before the transport is closed. May take as long as the server takes. */
  readonly endSession?: () => Promise<void>;
}

export async function openTransport(opening: Opening): Promise<Way> {
  return opening.server.transport.type === 'http' ? openHttp(opening) : openStdio(opening);
}

async function openHttp(opening: Opening): Promise<Way> {
  const { transport } = opening.server;
  if (transport.type !== 'http') throw new TypeError('unreachable: another transport');
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const http = new StreamableHTTPClientTransport(new URL(transport.url), {
    fetch: boundedFetch(fetchWithCredentials(opening, await sendOf(opening))),
    reconnectionScheduler: (reconnect, delayMs) => {
      const timer = setTimeout(reconnect, pauseOf(delayMs));
      timer.unref();
      return () => {
        clearTimeout(timer);
      };
    },
  });
  return { transport: http, endSession: () => http.terminateSession() };
}

async function sendOf({ server, isGuarded, apiUrls = [] }: Opening): Promise<FetchLike> {
  const { transport } = server;
  const given = transport.type === 'http' ? transport.allowPrivate : undefined;
  const allowPrivate = isGuarded === true ? (given ?? []) : given;
  if (allowPrivate === undefined) return (await import('../../http/patient-fetch.js')).patientFetch;
  const { guardedFetch } = await import('../../http/guarded-fetch.js');
  return guardedFetch({ allowPrivate, apiUrls });
}

/** Servers set the reconnection delay; a delay of zero would keep the worker busy with nothing else. */
function pauseOf(delayMs: number): number {
  return Math.min(Math.max(delayMs, MIN_MCP_RECONNECT_MS), MAX_MCP_RECONNECT_MS);
}

async function openStdio(opening: Opening): Promise<Way> {
  const { transport, name } = opening.server;
  if (transport.type !== 'stdio') throw new TypeError('unreachable: another transport');
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const { command, args = [], env, cwd } = transport;
  const given = (await resolved(opening, env, { refused: false })) ?? {};
  opening.secrets.add(...Object.values(given));
  const stdio = new StdioClientTransport({
    command,
    args: [...args],
    env: { ...given },
    ...(cwd === undefined ? {} : { cwd }),
    stderr: 'pipe',
    maxBufferSize: MAX_MCP_MESSAGE_BYTES,
  });
  endsWithWorker(stdio);
  if (stdio.stderr !== null) logLines(stdio.stderr, { ...opening, name });
  return { transport: stdio };
}

/** Logs standard error, line by line and bounded: it is for the operator, and a server may write without end. */
function logLines(
  stderr: Stream,
  { name, logger, secrets }: { name: string; logger: Logger; secrets: Redactor },
): void {
  let rest = '';
  let minute = 0;
  let lines = 0;
  const log = (line: string): void => {
    const now = Math.floor(Date.now() / 60_000);
    if (now !== minute) {
      minute = now;
      lines = 0;
    }
    lines += 1;
    if (lines > MAX_MCP_STDERR_LINES || line.trim() === '') return;
    const text = secrets.text(line).slice(0, MAX_MCP_STDERR_LINE_CHARS);
    logger.debug('MCP server wrote to its standard error', { mcpServer: name, text });
  };
  stderr.on('data', (chunk: Buffer) => {
    const pieces = `${rest}${chunk.toString('utf8')}`.split('\n');
    rest = (pieces.pop() ?? '').slice(0, MAX_MCP_STDERR_LINE_CHARS);
    for (const line of pieces) log(line);
  });
  stderr.on('end', () => {
    log(rest);
  });
}

/** Opens the port, and closes it in order: event streams end, requests finish, then connections are closed. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { notePlace } from '../net/guarded/own-api.js';
import { isLoopbackAddress } from '../net/hosts.js';
import { type FieldsOf, requireKnown } from '../protocol/values/field-problem.js';
import { isIdentified } from './identity/identified.js';
import { streamsOf } from './request/streams.js';
import { answerUnreadable } from './unreadable.js';

export interface ServeOptions {
  /** 0 takes a free port. */
  readonly port: number;
  /** Loopback only, unless the app has an identity that is not for development. @defaultValue "127.0.0.1" */
  readonly host?: string;
  /**
   * Milliseconds between the beginning of `close`, when `/readyz` turns 503, and the end of the port: time for a load
   * balancer to notice. @defaultValue 0
   */
  readonly drainMs?: number;
  /** Connections that one address may have open; further ones are closed at once. @defaultValue any number */
  readonly connectionsPerAddress?: number | undefined;
  /** Time for running requests when closing, in milliseconds. @defaultValue 5000 */
  readonly graceMs?: number;
}

export interface HttpServer {
  readonly port: number;
  /** `http://127.0.0.1:8080` */
  readonly url: string;
  /** Lets `/readyz` say so for `drainMs`, ends event streams, lets requests finish, closes the port. Safe to repeat. */
  close(): Promise<void>;
}

/** The port cannot be opened. The message names the port and what to do. */
export class ListenError extends Error {
  readonly code: string;
  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'ListenError';
    this.code = code;
  }
}

const FIELDS: FieldsOf<ServeOptions> = {
  ...{ port: true, host: true, drainMs: true, connectionsPerAddress: true, graceMs: true },
};

const DEFAULT_GRACE_MS = 5_000;
const SWEEP_MS = 25;

/**
 * Starts a server for the app. Resolves once it listens.
 * @throws {TypeError} naming an option that is not known
 * @throws {ListenError} not_loopback, or the system's code (EADDRINUSE, EACCES, EADDRNOTAVAIL)
 */
export async function serve(app: RequestListener, options: ServeOptions): Promise<HttpServer> {
  requireKnown('serve', options, FIELDS);
  const host = options.host ?? '127.0.0.1';
  const problem = isIdentified(app) ? undefined : hostProblem(host);
  if (problem !== undefined) throw new ListenError('not_loopback', problem);
  const server = createServer(app);
  answerUnreadable(server);
  if (options.connectionsPerAddress !== undefined)
    limitConnections(server, options.connectionsPerAddress);
  await listen(server, options.port, host);
  const { port } = server.address() as AddressInfo;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  server.once('close', notePlace(url));
  let closing: Promise<void> | undefined;
  return {
    port,
    url,
    close: () => {
      closing ??= drainAndClose(server, app, options);
      return closing;
    },
  };
}

/** A refused connection gets no answer: it is closed before its request is read. */
function limitConnections(server: Server, max: number): void {
  const open = new Map<string, number>();
  server.on('connection', (socket) => {
    const address = socket.remoteAddress ?? '';
    const count = open.get(address) ?? 0;
    if (count >= max) {
      socket.destroy();
      return;
    }
    open.set(address, count + 1);
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
  });
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => {
      reject(
        new ListenError(error.code ?? 'ELISTEN', listenText(error, port, host), { cause: error }),
      );
    };
    server.once('error', failed);
    server.listen(port, host, () => {
      server.off('error', failed);
      resolve();
    });
  });
}

function listenText(error: NodeJS.ErrnoException, port: number, host: string): string {
  if (error.code === 'EADDRINUSE')
    return `Port ${port} on ${host} is taken. Stop the process that uses it (see: ss -ltnp 'sport = :${port}'), or choose another: COLLOQUY_PORT=${port + 1}`;
  return `Cannot listen on ${host}:${port}: ${error.message}`;
}

async function drainAndClose(
  server: Server,
  app: RequestListener,
  { drainMs = 0, graceMs = DEFAULT_GRACE_MS }: ServeOptions,
): Promise<void> {
  streamsOf(app)?.drain();
  if (drainMs > 0) await sleep(drainMs);
  await closeServer(server, app, graceMs);
}

async function closeServer(server: Server, app: RequestListener, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
  });
  streamsOf(app)?.endAll();
  server.closeIdleConnections();
  // Without this, a connection whose request ends only now stays open for the next request until its time-out.
  const sweeping = setInterval(() => {
    server.closeIdleConnections();
  }, SWEEP_MS);
  const over = new AbortController();
  const forced = sleep(graceMs, undefined, { signal: over.signal })
    .then(() => {
      server.closeAllConnections();
    })
    .catch(() => undefined);
  await closed;
  clearInterval(sweeping);
  over.abort();
  await forced;
}

/** Why an app without a configured identity must not be served at an address, or undefined if it may. */
export function hostProblem(host: string): string | undefined {
  if (host === 'localhost' || isLoopbackAddress(host)) return undefined;
  return `No identity is configured, and the development identity is for this machine only: ${host} is not loopback. Use 127.0.0.1, or configure an identity (docs/identity.md)`;
}

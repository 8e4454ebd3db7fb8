/**
 * A small HTTP server for the probes of a process: health, readiness, metrics. It has a port of its own, so that probes
 * reach neither the API nor its rules, and is answered while the process drains.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isLoopbackName, nameOfHost } from './hosts.js';

export interface ProbeAnswer {
  readonly status: number;
  readonly body: string;
  /** @defaultValue "application/json" */
  readonly type?: string;
}

/** An answer for each path that is served, such as `/healthz`. A rejection is answered with 500 and without details. */
export type Probes = Readonly<Record<string, () => Promise<ProbeAnswer>>>;

export interface ProbeAddress {
  /** 0 takes a free port. */
  readonly port: number;
  /** @defaultValue "127.0.0.1" */
  readonly host?: string | undefined;
}

export interface ProbeServer {
  readonly port: number;
  /** `http://127.0.0.1:8081` */
  readonly url: string;
  /** Closes the port and its connections at once. Safe to repeat. */
  close(): Promise<void>;
}

/** The port cannot be opened. The message names address and reason. */
export class ProbePortUnavailable extends Error {
  readonly code = 'probe_port_unavailable';
}

/** Resolves once the port is open. The server does not keep the process alive. @throws {ProbePortUnavailable} */
export async function serveProbes(probes: Probes, address: ProbeAddress): Promise<ProbeServer> {
  const { port: wanted, host = '127.0.0.1' } = address;
  const server = createServer((request, response) => {
    void answer(probes, request, response);
  });
  const shown = host.includes(':') ? `[${host}]` : host;
  await listening(server, { port: wanted, host }).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ProbePortUnavailable(`cannot listen on ${shown}:${wanted}: ${reason}`, {
      cause: error,
    });
  });
  server.unref();
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://${shown}:${port}`,
    close: async () => {
      const closed = new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
      });
      server.closeAllConnections();
      await closed;
    },
  };
}

async function listening(server: Server, address: { port: number; host: string }): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address.port, address.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

async function answer(
  probes: Probes,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { status, body, type = 'application/json' } = await answerTo(probes, request);
  response.writeHead(status, {
    'Content-Type': type,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

async function answerTo(probes: Probes, request: IncomingMessage): Promise<ProbeAnswer> {
  if (isFromRebinding(request)) return problem(421, 'the name is not that of this machine');
  if (request.method !== 'GET' && request.method !== 'HEAD') return problem(405, 'only GET');
  const [path = ''] = (request.url ?? '').split('?', 1);
  const probe = Object.hasOwn(probes, path) ? probes[path] : undefined;
  if (probe === undefined) return problem(404, `served are ${Object.keys(probes).join(', ')}`);
  return await probe().catch(() => problem(500, 'the probe failed'));
}

function problem(status: number, error: string): ProbeAnswer {
  return { status, body: JSON.stringify({ error }) };
}

/**
 * True for a request by another name to an address of this machine: a page whose name was rebound to it sends that. On
 * any other address the name of the machine is not known.
 */
function isFromRebinding({ headers, socket }: IncomingMessage): boolean {
  const { localAddress = '' } = socket;
  if (!isLoopbackName(localAddress.replace(/^::ffff:/, ''))) return false;
  const name = nameOfHost(headers.host ?? 'localhost');
  return name === undefined || !isLoopbackName(name);
}

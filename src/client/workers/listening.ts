/** Finds out whether a process listens at the address of a Temporal server: only if none does, "start one" helps. */
import { connect } from 'node:net';
import type { Client } from '@temporalio/client';
import { isRecord } from '../../protocol/values/json.js';

/**
 * Milliseconds. A port of this machine answers or refuses at once; an address that drops packets stays unknown after
 * this time.
 */
const PROBE_MS = 500;

/** `nothing`: the machine reports that no process listens. `unknown`: it did not answer, or the name is not known. */
export type Listening = 'something' | 'nothing' | 'unknown';

/** Opens a connection and closes it again. `address` is `host:port`, also with a scheme before it. Never rejects. */
export async function listeningAt(address: string): Promise<Listening> {
  const url = URL.parse(`tcp://${address.replace(/^[a-z]+:\/\//i, '')}`);
  if (url === null || url.port === '') return 'unknown';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return await new Promise((resolve) => {
    const socket = connect({ host, port: Number(url.port), timeout: PROBE_MS });
    const done = (found: Listening): void => {
      socket.destroy();
      resolve(found);
    };
    socket.once('connect', () => {
      done('something');
    });
    socket.once('timeout', () => {
      done('unknown');
    });
    socket.once('error', (error) => {
      done(isRefusal(error) ? 'nothing' : 'unknown');
    });
  });
}

/** Whether a process listens at the address of this client; undefined where the client is connected. */
export async function listeningOf(temporal: Client): Promise<Listening | undefined> {
  const address = addressOf(temporal);
  return address === undefined || connectivityOf(temporal) === READY
    ? undefined
    : await listeningAt(address);
}

/**
 * `connectivityState.READY` of @grpc/grpc-js. @see
 * https://grpc.github.io/grpc/core/md_doc_connectivity-semantics-and-api.html
 */
const READY = 2;

/** Undefined for connections that do not report it. */
function connectivityOf({ connection }: Client): number | undefined {
  const { client } = connection as {
    client?: { getChannel?: () => { getConnectivityState?: (connects: boolean) => number } };
  };
  return client?.getChannel?.().getConnectivityState?.(false);
}

/** The address of the server that the client uses; undefined for connections that do not report it. */
export function addressOf(temporal: Client): string | undefined {
  const options = (temporal.connection as { options?: unknown }).options;
  return isRecord(options) && typeof options['address'] === 'string'
    ? options['address']
    : undefined;
}

/**
 * True if an error, or one of its causes, means that the connection was refused, by the message of Node or of
 * Temporal's native client.
 */
export function isRefusal(error: unknown): boolean {
  return chainOf(error).some(
    (link) =>
      /ECONNREFUSED|Connection refused/i.test(link.message) ||
      // Several addresses of one name were tried.
      (link instanceof AggregateError && link.errors.some((each) => isRefusal(each))),
  );
}

/** The error, its cause, the cause of that, and so on; at most six. */
export function chainOf(error: unknown): readonly Error[] {
  const chain: Error[] = [];
  for (let link = error; link instanceof Error && chain.length < 6; link = link.cause)
    chain.push(link);
  return chain;
}

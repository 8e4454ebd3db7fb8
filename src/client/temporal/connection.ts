/**
 * Connects a client to Temporal. Errors say which address was tried and how to start a server. Settings come from
 * Temporal's own environment (`TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, `TEMPORAL_API_KEY`, TLS, profiles).
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection, type ConnectionOptions } from '@temporalio/client';
import type { PayloadCodec } from '@temporalio/common';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { CompressionCodec } from '../payloads/payload-codec.js';
import { devServerCommand } from '../workers/dev-server.js';
import { type Listening, listeningAt } from '../workers/listening.js';
import { retryingInterceptors } from './closed-connection.js';
import { GRPC, grpcCodeOf } from './errors.js';

export const DEFAULT_TEMPORAL_ADDRESS = '127.0.0.1:7233';

export interface TemporalSettings {
  readonly address: string;
  readonly namespace: string;
  readonly options: Omit<ConnectionOptions, 'address'>;
}

/** Reads the connection settings. Overrides win over the environment, the environment over the configuration file. */
export function temporalSettings(
  overrides: {
    readonly address?: string | undefined;
    readonly namespace?: string | undefined;
  } = {},
): TemporalSettings {
  const { connectionOptions, namespace } = loadClientConnectConfig();
  const { address, ...options } = connectionOptions;
  return {
    address: overrides.address ?? address ?? DEFAULT_TEMPORAL_ADDRESS,
    namespace: overrides.namespace ?? namespace ?? 'default',
    options,
  };
}

/** No Temporal server answered. The message names the address and, if nothing listens there, how to start a server. */
export class TemporalUnreachable extends Error {
  readonly code = 'temporal_unreachable';
  readonly address: string;
  constructor(address: string, cause: unknown, listening: Listening = 'unknown') {
    const why = `No Temporal server answers at ${address} (${causeOf(cause)})`;
    super(
      listening === 'nothing'
        ? `${why}. Start one: ${devServerCommand()} - or point TEMPORAL_ADDRESS at yours.`
        : `${why}${listening === 'something' ? ', although something listens there: it may be paused, want TLS (TEMPORAL_TLS=true), or be another program' : ''}. TEMPORAL_ADDRESS names the server.`,
      { cause },
    );
    this.name = 'TemporalUnreachable';
    this.address = address;
  }
}

/** The Temporal server answers, but does not have the namespace. The message names both. */
export class NamespaceUnknown extends Error {
  readonly code = 'temporal_unreachable';
  constructor({ address, namespace }: TemporalSettings, cause: unknown) {
    super(
      `The Temporal server at ${address} has no namespace "${namespace}". Create it: temporal operator namespace create -n ${namespace} - or name another in TEMPORAL_NAMESPACE.`,
      { cause },
    );
    this.name = 'NamespaceUnknown';
  }
}

function causeOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return (text.split('\n')[0] ?? '').slice(0, 200);
}

export interface ConnectPolicy {
  /** Keep trying (1 s apart, then 5 s) until this many milliseconds have passed; 0 = one try. */
  readonly retryForMs: number;
  readonly logger: { warn(message: string): void };
  readonly signal?: AbortSignal | undefined;
  /** Signs the requests of a client. @defaultValue process and host */
  readonly identity?: string | undefined;
}

/**
 * Connects a client that compresses large payloads and reads compressed ones, unless other codecs are given.
 * @throws {TemporalUnreachable} when the time for retries is over.
 * @throws {NamespaceUnknown} when the server does not have the namespace.
 */
export async function connectClient(
  settings: TemporalSettings,
  policy: ConnectPolicy,
  payloadCodecs: readonly PayloadCodec[] = [new CompressionCodec()],
): Promise<Client> {
  const { namespace } = settings;
  const { connection, notFound } = await retrying(settings, policy, () => connected(settings));
  if (notFound !== undefined) {
    await connection.close();
    throw new NamespaceUnknown(settings, notFound);
  }
  const { identity } = policy;
  return new Client({
    connection,
    namespace,
    ...(identity === undefined ? {} : { identity }),
    dataConverter: { payloadCodecs: [...payloadCodecs] },
  });
}

/** Both requests of a connect are sent together: so a server that does not answer costs one deadline. */
async function connected(settings: TemporalSettings) {
  const connection = Connection.lazy(clientConnection(settings));
  try {
    const [notFound] = await Promise.all([
      namespaceNotFound(connection, settings.namespace),
      connection.ensureConnected(),
    ]);
    return { connection, notFound };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** The server's "not found"; any other answer counts as a yes: not every credential may describe its namespace. */
async function namespaceNotFound(connection: Connection, namespace: string): Promise<unknown> {
  try {
    await connection.withDeadline(Date.now() + CONNECT_TIMEOUT_MS, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
  } catch (error) {
    if (grpcCodeOf(error) === GRPC.notFound) return error;
  }
  return undefined;
}

const CONNECT_TIMEOUT_MS = 3_000;

/**
 * Longest pause between two attempts of an open connection to reach its server again: gRPC's default is two minutes.
 */
const MAX_RECONNECT_PAUSE_MS = 2_000;

/** Connection options of a client. Channel arguments of the environment win. */
export function clientConnection({ address, options }: TemporalSettings): ConnectionOptions {
  const channelArgs = {
    'grpc.max_reconnect_backoff_ms': MAX_RECONNECT_PAUSE_MS,
    ...options.channelArgs,
  };
  const interceptors = options.interceptors ?? retryingInterceptors();
  return { ...options, address, connectTimeout: CONNECT_TIMEOUT_MS, channelArgs, interceptors };
}

/** Repeats a connect until it succeeds or the policy's time is over. @throws {TemporalUnreachable} */
export async function retrying<T>(
  settings: TemporalSettings,
  policy: ConnectPolicy,
  connect: () => Promise<T>,
): Promise<T> {
  const startedAt = Date.now();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await connect();
    } catch (error) {
      const { address } = settings;
      const failure = new TemporalUnreachable(address, error, await listeningAt(address));
      const left = policy.retryForMs - (Date.now() - startedAt);
      if (left <= 0 || policy.signal?.aborted === true) throw failure;
      if (attempt === 1) policy.logger.warn(`${failure.message} Trying again…`);
      await delay(Math.min(left, attempt < 10 ? 1_000 : 5_000));
    }
  }
}

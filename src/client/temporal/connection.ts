/**
 * Connects a client to Temporal. Errors say which address was tried and how to start a server. Settings come from
 * Temporal's own environment (`TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, `TEMPORAL_API_KEY`, TLS, profiles).
 */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { createSecureContext } from 'node:tls';
import { Client, Connection, type ConnectionOptions } from '@temporalio/client';
import type { PayloadCodec } from '@temporalio/common';
import {
  type ClientConfigProfile,
  loadClientConfigProfile,
  toClientOptions,
} from '@temporalio/envconfig';
import type { FieldsOf } from '../../protocol/values/field-problem.js';
import { CompressionCodec } from '../payloads/payload-codec.js';
import { devServerCommand } from '../workers/dev-server.js';
import { type Listening, listeningAt } from '../workers/listening.js';
import { retryingInterceptors } from './closed-connection.js';
import { GRPC, grpcCodeOf, refusedClientText, refusesClient } from './errors.js';

export const DEFAULT_TEMPORAL_ADDRESS = '127.0.0.1:7233';

export interface TemporalSettings {
  readonly address: string;
  readonly namespace: string;
  readonly options: Omit<ConnectionOptions, 'address'>;
}

/** A server of `ensureTemporal` may be passed whole. */
export const TEMPORAL_FIELDS: FieldsOf<TemporalSettings> = {
  ...{ address: true, namespace: true, options: true },
  ...{ uiUrl: true, started: true, notes: true, stop: true },
};

/** A variable of Temporal's, or a file that it names, is wrong. The message names both. */
export class TemporalSettingsInvalid extends Error {
  readonly code = 'invalid_configuration';
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'TemporalSettingsInvalid';
  }
}

/**
 * Reads the connection settings. Overrides win over the environment, the environment over the configuration file.
 * @throws {TemporalSettingsInvalid} naming the variable
 */
export function temporalSettings(
  overrides: {
    readonly address?: string | undefined;
    readonly namespace?: string | undefined;
  } = {},
): TemporalSettings {
  checkVariables();
  const profile = readProfile();
  checkTls(profile.tls);
  const { connectionOptions, namespace } = toClientOptions(profile);
  const { address, ...options } = connectionOptions;
  const place =
    process.env['TEMPORAL_ADDRESS'] === undefined
      ? `address in ${configFile()}`
      : 'TEMPORAL_ADDRESS';
  return {
    address:
      overrides.address === undefined
        ? wholeAddress(address ?? DEFAULT_TEMPORAL_ADDRESS, place)
        : wholeAddress(overrides.address, 'temporal.address'),
    namespace: overrides.namespace ?? namespace ?? 'default',
    options,
  };
}

const ADDRESS = /^(?:\[[\da-f:.]+\]|[^\s:/@[\]]+)(?<port>:\d{1,5})?$/i;

/**
 * The address with its port, 7233 where it has none.
 * @param place the variable or the option, for the error
 * @throws {TemporalSettingsInvalid} when it has a scheme or a path, which the SDK would report without the place
 */
export function wholeAddress(address: string, place: string): string {
  const found = ADDRESS.exec(address);
  if (found === null)
    throw new TemporalSettingsInvalid(
      `${place} must be host:port, such as ${DEFAULT_TEMPORAL_ADDRESS}, without a scheme; got "${address}"`,
    );
  return found.groups?.['port'] === undefined ? `${address}:7233` : address;
}

/** Variables that mean nothing, or something else, when they are empty. */
const VARIABLES = [
  ...['TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE', 'TEMPORAL_API_KEY', 'TEMPORAL_TLS'],
  ...['TEMPORAL_TLS_CLIENT_CERT_PATH', 'TEMPORAL_TLS_CLIENT_KEY_PATH'],
  ...['TEMPORAL_TLS_SERVER_CA_CERT_PATH', 'TEMPORAL_TLS_SERVER_NAME'],
  ...['TEMPORAL_CONFIG_FILE', 'TEMPORAL_PROFILE'],
];

/** Values of `TEMPORAL_TLS`. The SDK takes any other for "off". */
const SWITCH = ['true', 'false', '1', '0'];

/** The SDK ignores an empty variable, or fails with an error that does not name it; a missing file likewise. */
function checkVariables(): void {
  const { env } = process;
  const empty = VARIABLES.find((name) => env[name]?.trim() === '');
  if (empty !== undefined)
    throw new TemporalSettingsInvalid(`${empty} is empty: give it a value, or unset it`);
  const { TEMPORAL_TLS: tls, TEMPORAL_CONFIG_FILE: file } = env;
  if (tls !== undefined && !SWITCH.includes(tls))
    throw new TemporalSettingsInvalid(`TEMPORAL_TLS must be ${SWITCH.join(', ')}, got "${tls}"`);
  if (file !== undefined) readNamed('TEMPORAL_CONFIG_FILE', file);
}

function readNamed(name: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new TemporalSettingsInvalid(
      `${name} names ${file}, which cannot be read (${causeOf(error)})`,
      error,
    );
  }
}

/** The file of profiles, for messages. */
const configFile = (): string =>
  process.env['TEMPORAL_CONFIG_FILE'] ?? "Temporal's configuration file";

function readProfile(): ClientConfigProfile {
  try {
    return loadClientConfigProfile();
  } catch (error) {
    const why = causeOf(error);
    // A file without any profile makes the SDK read a property of undefined.
    const lacksProfile = error instanceof TypeError || why.startsWith('Profile ');
    const profile = process.env['TEMPORAL_PROFILE'];
    const named = profile === undefined ? '' : `TEMPORAL_PROFILE names "${profile}": `;
    throw new TemporalSettingsInvalid(
      lacksProfile
        ? `${named}${configFile()} has no table [profile.${profile ?? 'default'}]`
        : `The TEMPORAL_ variables and ${configFile()} cannot be read together: ${why}`,
      error,
    );
  }
}

/** Fails here for files that would fail in the first request, as if no server answered. */
function checkTls(tls: ClientConfigProfile['tls']): void {
  if (tls === undefined || tls.disabled === true) return;
  const { clientCert, clientKey, serverCACert } = tls;
  const [certName, keyName] = [placeOf('client_cert'), placeOf('client_key')];
  if ((clientCert === undefined) !== (clientKey === undefined)) {
    const [given, missing] =
      clientKey === undefined ? [certName, 'the key'] : [keyName, 'the certificate'];
    throw new TemporalSettingsInvalid(`${given} is set without ${missing} that belongs to it`);
  }
  const cert = contentOf(certName, clientCert);
  const key = contentOf(keyName, clientKey);
  const authority = contentOf(placeOf('server_ca_cert'), serverCACert);
  if (cert !== undefined && key !== undefined)
    checkPem(`${certName} and ${keyName}`, () => createSecureContext({ cert, key }));
  if (authority !== undefined)
    checkPem(placeOf('server_ca_cert'), () => new X509Certificate(authority));
}

/** The variable that a part of the TLS settings comes from, or its place in the configuration file. */
function placeOf(part: 'client_cert' | 'client_key' | 'server_ca_cert'): string {
  const name = `TEMPORAL_TLS_${part.toUpperCase()}`;
  const variable = [`${name}_PATH`, `${name}_DATA`].find((each) => process.env[each] !== undefined);
  return variable ?? `${part} in ${configFile()}`;
}

function contentOf(
  name: string,
  source: NonNullable<ClientConfigProfile['tls']>['clientCert'],
): Buffer | undefined {
  if (source === undefined) return undefined;
  return 'path' in source ? readNamed(name, source.path) : Buffer.from(source.data);
}

function checkPem(name: string, read: () => unknown): void {
  try {
    read();
  } catch (error) {
    throw new TemporalSettingsInvalid(`${name}: not valid PEM (${causeOf(error)})`, error);
  }
}

/**
 * No Temporal server answered, or it refused the client's credentials. The message names the address and, if nothing
 * listens there, how to start a server.
 */
export class TemporalUnreachable extends Error {
  readonly code = 'temporal_unreachable';
  readonly address: string;
  constructor(settings: TemporalSettings, cause: unknown, listening: Listening = 'unknown') {
    super(unreachableText(settings, cause, listening), { cause });
    this.name = 'TemporalUnreachable';
    this.address = settings.address;
  }
}

function unreachableText(
  { address, options }: TemporalSettings,
  cause: unknown,
  listening: Listening,
): string {
  if (refusesClient(cause)) return refusedClientText(address, causeOf(cause));
  const why = `No Temporal server answers at ${address} (${causeOf(cause)})`;
  if (listening === 'nothing')
    return `${why}. Start one: ${devServerCommand()} - or point TEMPORAL_ADDRESS at yours.`;
  const hasTls = options.tls !== undefined && options.tls !== null && options.tls !== false;
  const tls = hasTls
    ? 'speak no TLS, or with another certificate (TEMPORAL_TLS and TEMPORAL_TLS_SERVER_CA_CERT_PATH)'
    : 'want TLS (TEMPORAL_TLS=true)';
  return `${why}${listening === 'something' ? `, although something listens there: it may be paused, ${tls}, or be another program` : ''}. TEMPORAL_ADDRESS names the server.`;
}

/** The Temporal server answers, but does not have the namespace. The message names both. */
export class NamespaceUnknown extends Error {
  readonly code = 'temporal_unreachable';
  constructor({ address, namespace }: TemporalSettings, cause: unknown) {
    super(
      `The Temporal server at ${address} has no namespace "${namespace}". Create it: npx colloquy temporal operator namespace create -n ${namespace} - or name another in TEMPORAL_NAMESPACE.`,
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
      const failure = new TemporalUnreachable(settings, error, await listeningAt(settings.address));
      const left = policy.retryForMs - (Date.now() - startedAt);
      if (left <= 0 || policy.signal?.aborted === true) throw failure;
      if (attempt === 1) policy.logger.warn(`${failure.message} Trying again…`);
      await delay(Math.min(left, attempt < 10 ? 1_000 : 5_000));
    }
  }
}

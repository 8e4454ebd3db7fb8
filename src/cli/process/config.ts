/** Settings of the command line: flags first, then environment, then defaults. One error lists every bad value. */
import { resolve } from 'node:path';
import type { JwtOptions } from '../../http/identity/jwt.js';
import type { LogForm } from '../../logs/line-style.js';
import type { AllowPrivate } from '../../net/guarded/addresses.js';
import type { ProbeAddress } from '../../net/probe-server.js';
import type { BlobChoice } from '../../projection/source/open-log.js';
import type { Duration } from '../../protocol/values/durations.js';
import type { ConfiguredEndpoint } from '../../webhooks/endpoints.js';
import { ConfigError } from './config-error.js';
import { jwtOf } from './identity-config.js';
import { EnvironmentSchema, FLAGS } from './variables.js';

export { ConfigError };

export interface Config {
  /** Folder of the event log (and of the development server's database). */
  readonly dataDir: string;
  /** The sqlite file in it, or the address of a Postgres database. */
  readonly eventLog: string;
  /** Where values too large for events are stored: beside them, in a folder, or nowhere. */
  readonly blobs: BlobChoice;
  /** Conversations that were closed longer ago are deleted; absent: none are. */
  readonly closedAfter: Duration | undefined;
  readonly taskQueue: string;
  readonly searchAttributes: boolean;
  /** Compress payloads of more than 8 KB. */
  readonly compression: boolean;
  /** Factor for every wait of the API for Temporal and its workers. */
  readonly patience: number;
  /** Runs that a worker keeps in memory. */
  readonly cachedRuns: number;
  readonly audit: 'off' | 'records' | 'full';
  /** Run workflows with the time limit and the promise stack traces of the SDK. */
  readonly sdkGuards: boolean;
  /** Origins of Temporal UIs whose pages may use the codec endpoint. */
  readonly uiOrigins: readonly string[];
  /** Address of a Temporal UI, in which runs are named. */
  readonly temporalUi: string | undefined;
  readonly pageUrl: string | undefined;
  /** Addresses of the API, which HTTP tools of a worker never reach. */
  readonly apiUrls: readonly string[];
  /** Serve the web page for people, under `/ui`. */
  readonly ui: 'on' | 'off';
  /** Origins whose pages may use the API. */
  readonly corsOrigins: readonly string[];
  /** The schemes that identify callers. */
  readonly identity: readonly ('development' | 'keys' | 'jwt')[];
  /** Absent: none is configured. */
  readonly jwt: JwtOptions | undefined;
  readonly tokenSecrets: readonly string[] | undefined;
  /** Secret and roles of the development identity. */
  readonly devSecret: string | undefined;
  readonly devRoles: readonly string[];
  /** Module that knows the owners of files at the provider of the models. Absent: the API knows none. */
  readonly providerFiles: string | undefined;
  /** Module with routes of the application. Absent: the API has its own alone. */
  readonly routes: string | undefined;
  readonly host: string;
  /** Names under which the API may be reached besides those of this machine. */
  readonly allowedHosts: readonly string[];
  readonly port: number;
  /** Limits of the API. */
  readonly limits: Readonly<Record<'requests' | 'streams' | 'connections', number | 'off'>>;
  /** Where a worker serves metrics; absent: nowhere. */
  readonly metrics: string | undefined;
  /** Where an API process serves metrics; absent: nowhere. */
  readonly apiMetrics: ProbeAddress | undefined;
  /** Where a worker serves its health; absent: nowhere. */
  readonly health: ProbeAddress | undefined;
  /** Webhooks that a worker creates, and addresses of its own network that they may reach. */
  readonly webhooks: {
    readonly endpoints: readonly ConfiguredEndpoint[];
    readonly allowPrivate: AllowPrivate;
  };
  /** Absent: text on a terminal, and else JSON. */
  readonly logForm: LogForm | undefined;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent';
}

/** Options of the command line that stand before the environment. */
export interface ConfigFlags {
  readonly data?: string | undefined;
  readonly port?: string | undefined;
  readonly host?: string | undefined;
  readonly allowedHosts?: string | undefined;
  readonly providerFiles?: string | undefined;
  readonly routes?: string | undefined;
}

function withFlags(
  environment: NodeJS.ProcessEnv,
  { data, port, host, allowedHosts, providerFiles, routes }: ConfigFlags,
): NodeJS.ProcessEnv {
  const given = {
    COLLOQUY_DATA: data,
    COLLOQUY_PORT: port,
    COLLOQUY_HOST: host,
    COLLOQUY_ALLOWED_HOSTS: allowedHosts,
    COLLOQUY_PROVIDER_FILES: providerFiles,
    COLLOQUY_ROUTES: routes,
  };
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...environment, ...Object.fromEntries(set) };
}

/** @throws {ConfigError} listing every variable that breaks a rule. */
export function readConfig(environment: NodeJS.ProcessEnv, flags: ConfigFlags = {}): Config {
  const given = withFlags(environment, flags);
  const parsed = EnvironmentSchema.safeParse(given);
  if (!parsed.success) {
    const lines = parsed.error.issues.map(({ path, message }) => {
      const name = path.join('.');
      // An address may hold a password, and a webhook has a secret.
      const isSecret =
        ['COLLOQUY_DATABASE_URL', 'COLLOQUY_WEBHOOKS'].includes(name) || /_SECRETS?$/.test(name);
      const got = isSecret ? '' : `, got ${JSON.stringify(Reflect.get(given, name))}`;
      return `  ${name}${FLAGS[name] ?? ''}: ${message}${got}`;
    });
    throw new ConfigError(`Invalid configuration:\n${lines.join('\n')}`);
  }
  const values = parsed.data;
  const dataDir = resolve(values.COLLOQUY_DATA);
  return {
    dataDir,
    eventLog: values.COLLOQUY_DATABASE_URL ?? resolve(dataDir, 'log.db'),
    blobs: blobsOf(values.COLLOQUY_BLOBS),
    closedAfter: values.COLLOQUY_RETENTION as Duration | undefined,
    taskQueue: values.COLLOQUY_TASK_QUEUE,
    searchAttributes: values.COLLOQUY_SEARCH_ATTRIBUTES === 'on',
    compression: values.COLLOQUY_COMPRESSION === 'on',
    patience: values.COLLOQUY_PATIENCE,
    cachedRuns: values.COLLOQUY_CACHED_RUNS,
    audit: values.COLLOQUY_AUDIT,
    sdkGuards: values.COLLOQUY_SDK_GUARDS === 'on',
    uiOrigins: values.COLLOQUY_UI_ORIGINS,
    temporalUi: values.COLLOQUY_TEMPORAL_UI,
    pageUrl: values.COLLOQUY_PAGE_URL,
    apiUrls: values.COLLOQUY_API_URLS ?? listeningAt(values),
    ui: values.COLLOQUY_UI,
    corsOrigins: values.COLLOQUY_CORS_ORIGINS,
    metrics: values.COLLOQUY_METRICS,
    apiMetrics: placeOf(values.COLLOQUY_API_METRICS),
    health: healthOf(values),
    identity: values.COLLOQUY_IDENTITY,
    jwt: jwtOf(values),
    tokenSecrets: values.COLLOQUY_TOKEN_SECRETS,
    devSecret: values.COLLOQUY_DEV_SECRET,
    devRoles: values.COLLOQUY_DEV_ROLES,
    providerFiles: values.COLLOQUY_PROVIDER_FILES,
    routes: values.COLLOQUY_ROUTES,
    host: values.COLLOQUY_HOST,
    allowedHosts: values.COLLOQUY_ALLOWED_HOSTS,
    port: values.COLLOQUY_PORT,
    limits: {
      requests: values.COLLOQUY_REQUEST_LIMIT,
      streams: values.COLLOQUY_STREAM_LIMIT,
      connections: values.COLLOQUY_CONNECTION_LIMIT,
    },
    webhooks: {
      endpoints: values.COLLOQUY_WEBHOOKS,
      allowPrivate: allowPrivateOf(values.COLLOQUY_WEBHOOKS_PRIVATE),
    },
    logForm: values.COLLOQUY_LOG,
    logLevel: values.COLLOQUY_LOG_LEVEL,
  };
}

/** The address of an API with the same variables; none where it takes a free port, which only the API knows. */
function listeningAt({
  COLLOQUY_HOST: host,
  COLLOQUY_PORT: port,
}: Readonly<{ COLLOQUY_HOST: string; COLLOQUY_PORT: number }>): readonly string[] {
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return port !== 0 && URL.canParse(url) ? [url] : [];
}

function placeOf(address: string | undefined): ProbeAddress | undefined {
  const [, host, port] = /^(.*):(\d+)$/.exec(address ?? '') ?? [];
  return host === undefined
    ? undefined
    : { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}

function healthOf({
  COLLOQUY_HEALTH_PORT: port,
  COLLOQUY_HEALTH_HOST: host,
}: Readonly<{
  COLLOQUY_HEALTH_PORT?: number | undefined;
  COLLOQUY_HEALTH_HOST: string;
}>): ProbeAddress | undefined {
  return port === undefined ? undefined : { port, host };
}

function allowPrivateOf(entries: readonly string[]): AllowPrivate {
  return entries.includes('all') ? true : entries;
}

function blobsOf(value: string): BlobChoice {
  return value === 'event-log' || value === 'off' ? value : { folder: resolve(value) };
}

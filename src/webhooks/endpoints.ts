/** Creates, changes and lists endpoints: the part that the API and the command line share. */
import { createHash, randomUUID } from 'node:crypto';
import {
  WEBHOOK_EVENTS,
  WEBHOOK_TEST,
  type WebhookEventType,
} from '../protocol/log/webhook-events.js';
import type { FieldProblem } from '../protocol/values/field-problem.js';
import { idProblem } from '../protocol/values/ids.js';
import { canonicalJson, isRecord } from '../protocol/values/json.js';
import { textProblems } from '../protocol/values/well-formed.js';
import type {
  WebhookEndpoint,
  WebhookStatus,
  WebhookStore,
  WebhookTarget,
} from '../store/ports/webhooks.js';
import { isSecret, newSecret, SECRET_RULE } from './signature.js';

/** The URL of the endpoint whose events a function of the application takes. */
export const DELIVER_URL = 'deliver:';
/** An append writes a row for each endpoint that wants its event. */
export const MAX_ENDPOINTS = 20;
export const MAX_URL_CHARS = 2_000;
export const MAX_AGENTS = 100;
export const MAX_DESCRIPTION_CHARS = 200;
/** How long the secret before signs as well. */
export const ROTATION_MS = 24 * 3_600_000;

/** Filters and target of an endpoint. */
export interface EndpointFields {
  readonly url: string;
  readonly description?: string | undefined;
  readonly events?: readonly WebhookEventType[] | undefined;
  readonly agents?: readonly string[] | undefined;
}

/** An endpoint that the configuration names: its secret is known to the receiver already. */
export interface ConfiguredEndpoint extends EndpointFields {
  /** Distinguishes it from others; the same name in each start is the same endpoint. */
  readonly name: string;
  readonly secret: string;
  /** Absent: of every tenant. */
  readonly tenant?: string | undefined;
}

export class RequestReused extends Error {
  override readonly name = 'RequestReused';
}

export class TooManyEndpoints extends Error {
  constructor(tenant: string) {
    super(`Tenant "${tenant}" has ${MAX_ENDPOINTS} webhooks, the most that one may have`);
    this.name = 'TooManyEndpoints';
  }
}

/** The reason why a URL cannot be that of an endpoint; undefined when it can. Its address is checked when it is sent to. */
export function urlProblem(text: string): string | undefined {
  if (text.length > MAX_URL_CHARS) return `must be at most ${MAX_URL_CHARS} characters`;
  if (!URL.canParse(text)) return 'must be a URL';
  // A parser of URLs replaces what is not well-formed, so the text would name another URL than it shows.
  const [malformed] = textProblems(text);
  if (malformed !== undefined) return malformed.message;
  const { protocol, username, password, hash } = new URL(text);
  if (protocol !== 'https:' && protocol !== 'http:') return 'must begin with https:// or http://';
  if (username !== '' || password !== '') return 'must not hold a password';
  return hash === '' ? undefined : 'must not have a fragment';
}

/**
 * A repeat under the same request id resolves as the first one did, with the present secret.
 * @throws {TooManyEndpoints} {RequestReused}
 */
export async function createEndpoint(
  store: WebhookStore,
  { tenant, requestId }: { readonly tenant: string; readonly requestId?: string | undefined },
  fields: EndpointFields,
): Promise<{ readonly endpoint: WebhookEndpoint; readonly secret: string }> {
  const id = `wh_${idHash(tenant, requestId ?? randomUUID())}`;
  const before = await store.endpoint(id);
  if (before !== undefined) return createdAs(before, fields);
  const count = async (): Promise<number> => (await store.endpoints({ tenant })).length;
  if ((await count()) >= MAX_ENDPOINTS) throw new TooManyEndpoints(tenant);
  const endpoint = { id, tenant, ...filled(fields), ...created() };
  const current = newSecret();
  const given = { secret: current, previousUntilMs: 0, only: 'new' } as const;
  // The same request may have been faster on its other way: then its endpoint stays.
  const stored = await store.putEndpoint(endpoint, given);
  // Others may have been created at the same time: each of them counts again, so that none is beyond the bound.
  const isOurs = stored?.secrets.current === current;
  if (isOurs && (await count()) > MAX_ENDPOINTS) {
    await store.removeEndpoint(id);
    throw new TooManyEndpoints(tenant);
  }
  return createdAs(stored ?? { endpoint, secrets: { current } }, fields);
}

function createdAs(
  { endpoint, secrets }: WebhookTarget,
  fields: EndpointFields,
): { readonly endpoint: WebhookEndpoint; readonly secret: string } {
  if (canonicalJson(filled(endpoint)) !== canonicalJson(filled(fields))) throw new RequestReused();
  return { endpoint, secret: secrets.current };
}

/** The endpoint, if it belongs to the tenant. Without a tenant, any endpoint. */
export async function findEndpoint(
  store: WebhookStore,
  id: string,
  tenant?: string,
): Promise<WebhookEndpoint | undefined> {
  const endpoint = (await store.endpoint(id))?.endpoint;
  return tenant === undefined || endpoint?.tenant === tenant ? endpoint : undefined;
}

export interface Rotated {
  readonly secret: string;
  /** ISO 8601; until then the one before signs as well. */
  readonly previousUntil: string;
}

/**
 * Makes another secret. A repeat under the same request id resolves to the same one. Undefined where the endpoint has
 * been removed meanwhile.
 */
export async function rotateSecret(
  store: WebhookStore,
  endpoint: WebhookEndpoint,
  requestId?: string,
): Promise<Rotated | undefined> {
  const previousUntilMs = Date.now() + ROTATION_MS;
  const given = { secret: newSecret(), previousUntilMs, requestId, only: 'known' } as const;
  const stored = await store.putEndpoint(endpoint, given);
  if (stored === undefined) return undefined;
  const { current, previous } = stored.secrets;
  const { untilMs } = previous?.[0] ?? { untilMs: previousUntilMs };
  return { secret: current, previousUntil: new Date(untilMs).toISOString() };
}

/** Sends an event of no conversation to one endpoint; resolves to its id, which a repeat has as well. */
export async function sendTest(
  store: WebhookStore,
  endpoint: WebhookEndpoint,
  requestId: string = randomUUID(),
): Promise<string> {
  const id = `msg_${idHash(endpoint.id, requestId)}`;
  const time = new Date().toISOString();
  await store.enqueue(endpoint.id, {
    ...{ specversion: '1.0', id, source: `/webhooks/${endpoint.id}`, type: WEBHOOK_TEST },
    ...{ time, timestamp: time, datacontenttype: 'application/json', data: {} },
  } as const);
  return id;
}

/** Creates or changes the endpoints of the configuration. Safe to repeat, in any number of processes. */
export async function putConfigured(
  store: WebhookStore,
  configured: readonly ConfiguredEndpoint[],
): Promise<void> {
  for (const { name, secret, tenant, ...fields } of configured) {
    const id = `config_${name}`;
    const endpoint = {
      id,
      ...(tenant === undefined ? {} : { tenant }),
      ...filled(fields),
      ...created(),
    };
    await store.putEndpoint(endpoint, { secret, previousUntilMs: Date.now() + ROTATION_MS });
  }
}

/** The endpoint whose events a function of the application takes, of every tenant. */
export async function putDeliverEndpoint(store: WebhookStore): Promise<void> {
  const endpoint = { id: 'deliver', url: DELIVER_URL, ...created() };
  await store.putEndpoint(endpoint, { secret: '', previousUntilMs: 0 });
}

/** Problems of a list of endpoints of the configuration, by JSON Pointer. */
export function configuredProblems(given: unknown): readonly FieldProblem[] {
  if (!Array.isArray(given)) return [{ path: '', message: 'must be a list of endpoints' }];
  const names = given.map((entry: unknown) => (isRecord(entry) ? entry['name'] : undefined));
  return given.flatMap((entry: unknown, index) => [
    ...entryProblems(entry).map(({ path, message }) => ({ path: `/${index}${path}`, message })),
    ...(names[index] !== undefined && names.indexOf(names[index]) < index
      ? [{ path: `/${index}/name`, message: 'is the name of another endpoint' }]
      : []),
  ]);
}

const FIELDS: readonly string[] = [
  ...['name', 'url', 'secret', 'tenant', 'description', 'events', 'agents'],
];

function entryProblems(entry: unknown): readonly FieldProblem[] {
  if (!isRecord(entry)) return [{ path: '', message: 'must be an object' }];
  const { name, url, secret, tenant, description, events, agents } = entry;
  const problems: (readonly [string, string | undefined])[] = [
    ['/name', idRule(name)],
    ['/url', typeof url === 'string' ? urlProblem(url) : 'must be a URL'],
    ['/secret', typeof secret === 'string' && isSecret(secret) ? undefined : SECRET_RULE],
    ['/tenant', tenant === undefined ? undefined : idRule(tenant)],
    [
      '/description',
      description === undefined || typeof description === 'string' ? undefined : 'must be a text',
    ],
    [
      '/events',
      isListOf(events, (each) => Object.hasOwn(WEBHOOK_EVENTS, each))
        ? undefined
        : `must be a list of ${Object.keys(WEBHOOK_EVENTS).join(', ')}`,
    ],
    [
      '/agents',
      isListOf(agents, (each) => idRule(each) === undefined)
        ? undefined
        : 'must be a list of names of agents',
    ],
    ...textProblems(entry).map(({ path, message }) => [path, message] as const),
    ...Object.keys(entry)
      .filter((field) => !FIELDS.includes(field))
      .map((field) => [`/${field}`, 'is not known here'] as const),
  ];
  return problems.flatMap(([path, message]) => (message === undefined ? [] : [{ path, message }]));
}

function idRule(id: unknown): string | undefined {
  return idProblem('', id)?.trimStart();
}

function isListOf(given: unknown, holds: (each: string) => boolean): boolean {
  if (given === undefined) return true;
  return (
    Array.isArray(given) &&
    given.length > 0 &&
    given.every((each: unknown) => typeof each === 'string' && holds(each))
  );
}

function idHash(scope: string, requestId: string): string {
  const hash = createHash('sha256').update(JSON.stringify([scope, requestId]));
  return hash.digest('hex').slice(0, 24);
}

function filled({ url, description, events, agents }: EndpointFields) {
  return {
    url,
    ...(description === undefined ? {} : { description }),
    ...(events === undefined ? {} : { events }),
    ...(agents === undefined ? {} : { agents }),
  };
}

function created(): { readonly status: WebhookStatus; readonly createdAt: string } {
  return { status: 'active', createdAt: new Date().toISOString() };
}

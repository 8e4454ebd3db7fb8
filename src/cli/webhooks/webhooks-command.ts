/** The commands of `colloquy webhooks`. They use the event log alone; workers send what they change. */
import type { WebhookEventType } from '../../protocol/log/webhook-events.js';
import { DEFAULT_TENANT, idProblem } from '../../protocol/values/ids.js';
import { textProblems } from '../../protocol/values/well-formed.js';
import { visible } from '../../protocol/workflow/shown-text.js';
import type { DeliveryStatus, WebhookEndpoint, WebhookStore } from '../../store/ports/webhooks.js';
import {
  createEndpoint,
  findEndpoint,
  MAX_AGENTS,
  MAX_DESCRIPTION_CHARS,
  rotateSecret,
  sendTest,
  urlProblem,
} from '../../webhooks/endpoints.js';
import { openExistingLog } from '../operate/open.js';
import { ConfigError, readConfig } from '../process/config.js';
import { endWhenUnread, exitNow } from '../process/process-life.js';

export interface WebhookFlags {
  readonly tenant?: string;
  readonly data?: string;
  readonly json?: boolean;
  /** Seconds to keep trying to reach Postgres; 0 = one try. */
  readonly retry: number;
}

export interface AddFlags extends WebhookFlags {
  readonly event?: readonly WebhookEventType[];
  readonly agent?: readonly string[];
  readonly description?: string;
}

export interface DeliveryFlags extends WebhookFlags {
  readonly status?: DeliveryStatus;
  readonly cursor?: string;
}

/** The result of a command: as JSON, and in words. */
interface Outcome {
  readonly json: unknown;
  readonly text: string;
}

const PAGE = 50;

export async function runList(flags: WebhookFlags): Promise<never> {
  return await withStore(flags, async (store) => {
    const { tenant } = flags;
    const webhooks = await store.endpoints(tenant === undefined ? {} : { tenant });
    const text = webhooks.length === 0 ? 'No webhook.' : webhooks.map(endpointText).join('\n');
    return { json: { webhooks }, text };
  });
}

export async function runAdd(url: string, flags: AddFlags): Promise<never> {
  const [problem] = addProblems(url, flags);
  if (problem !== undefined) throw new ConfigError(problem);
  return await withStore(flags, async (store) => {
    const { tenant = DEFAULT_TENANT, event, agent, description } = flags;
    const fields = { url, events: event, agents: agent, description };
    const { endpoint, secret } = await createEndpoint(store, { tenant }, fields);
    return {
      json: { webhook: endpoint, secret },
      text: `${endpointText(endpoint)}\n${secretText(secret)}`,
    };
  });
}

/** By the rules of the API. */
function addProblems(url: string, flags: AddFlags): readonly string[] {
  const { tenant = DEFAULT_TENANT, agent = [], description = '' } = flags;
  const ofUrl = urlProblem(url);
  const [malformed] = textProblems(description);
  const problems = [
    ofUrl === undefined ? undefined : `<url> ${ofUrl}`,
    idProblem('--tenant', tenant),
    ...agent.map((name) => idProblem('--agent', name)),
    agent.length > MAX_AGENTS ? `--agent may be given at most ${MAX_AGENTS} times` : undefined,
    malformed === undefined ? undefined : `--description ${malformed.message}`,
    description.length > MAX_DESCRIPTION_CHARS
      ? `--description must be at most ${MAX_DESCRIPTION_CHARS} characters`
      : undefined,
  ];
  return problems.filter((problem) => problem !== undefined);
}

export async function runRemove(id: string, flags: WebhookFlags): Promise<never> {
  return await withEndpoint(id, flags, async (store) => {
    await store.removeEndpoint(id);
    return { json: { removed: true, webhookId: id }, text: `removed ${id}` };
  });
}

export async function runRotate(id: string, flags: WebhookFlags): Promise<never> {
  return await withEndpoint(id, flags, async (store, webhook) => {
    const rotated = await rotateSecret(store, webhook);
    if (rotated === undefined) throw unknownWebhook(id);
    const text = `${secretText(rotated.secret)}\nThe secret before signs as well until ${rotated.previousUntil}`;
    return { json: { webhook, ...rotated }, text };
  });
}

export async function runStatus(
  id: string,
  status: 'active' | 'paused',
  flags: WebhookFlags,
): Promise<never> {
  return await withEndpoint(id, flags, async (store, before) => {
    await store.setEndpointStatus(id, status);
    const webhook = { ...before, status };
    return { json: webhook, text: endpointText(webhook) };
  });
}

export async function runTest(id: string, flags: WebhookFlags): Promise<never> {
  return await withEndpoint(id, flags, async (store, endpoint) => {
    const deliveryId = await sendTest(store, endpoint);
    const text = `A worker sends ${deliveryId} within a second. Then: npx colloquy webhooks deliveries ${id}`;
    return { json: { deliveryId }, text };
  });
}

export async function runDeliveries(id: string, flags: DeliveryFlags): Promise<never> {
  return await withEndpoint(id, flags, async (store) => {
    const { status, cursor } = flags;
    const page = await store.deliveries({
      ...{ endpointId: id, limit: PAGE },
      ...(status === undefined ? {} : { status }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    const lines = page.deliveries.map((delivery) => {
      const { event, attempts, lastError } = delivery;
      const failure = lastError === undefined ? '' : `  ${visible(lastError)}`;
      return `${delivery.id}  ${delivery.status}  ${event.type}  ${event.time}  attempts ${attempts}${failure}`;
    });
    if (page.nextCursor !== undefined) lines.push(`\nThere are more: --cursor ${page.nextCursor}`);
    return { json: page, text: lines.length === 0 ? 'No delivery.' : lines.join('\n') };
  });
}

export async function runResend(
  id: string,
  deliveryId: string | undefined,
  flags: WebhookFlags,
): Promise<never> {
  return await withEndpoint(id, flags, async (store) => {
    const resent = deliveryId === undefined ? await resendDead(store, id) : [deliveryId];
    if (deliveryId !== undefined && !(await store.resendDelivery(id, deliveryId, Date.now())))
      throw new ConfigError(`${id} has no delivery ${deliveryId} that has ended`);
    const text = resent.length === 0 ? 'No dead delivery.' : `sent again: ${resent.join(', ')}`;
    return { json: { resent }, text };
  });
}

/** Oldest first, so that they are sent in their order. */
async function resendDead(store: WebhookStore, endpointId: string): Promise<readonly string[]> {
  const dead: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await store.deliveries({
      ...{ endpointId, status: 'dead' as const, limit: PAGE },
      ...(cursor === undefined ? {} : { cursor }),
    });
    dead.push(...page.deliveries.map(({ id }) => id));
    cursor = page.nextCursor;
    if (cursor === undefined) break;
  }
  for (const id of dead.toReversed()) await store.resendDelivery(endpointId, id, Date.now());
  return dead.toReversed();
}

async function withEndpoint(
  id: string,
  flags: WebhookFlags,
  run: (store: WebhookStore, endpoint: WebhookEndpoint) => Promise<Outcome>,
): Promise<never> {
  return await withStore(flags, async (store) => {
    const endpoint = await findEndpoint(store, id, flags.tenant);
    if (endpoint === undefined) throw unknownWebhook(id);
    return await run(store, endpoint);
  });
}

function unknownWebhook(id: string): ConfigError {
  return new ConfigError(`No webhook ${JSON.stringify(id)}; "colloquy webhooks list" has them`);
}

/** @throws {ConfigError} {StoreUnavailable} */
async function withStore(
  flags: WebhookFlags,
  run: (store: WebhookStore) => Promise<Outcome>,
): Promise<never> {
  const config = readConfig(process.env, { data: flags.data });
  const opened = await openExistingLog(config, flags.retry);
  endWhenUnread();
  if (opened.webhooks === undefined) throw new ConfigError('This event log has no webhooks');
  const { json, text } = await run(opened.webhooks);
  process.stdout.write(`${flags.json === true ? JSON.stringify(json, undefined, 2) : text}\n`);
  await opened.close();
  exitNow(0);
}

function endpointText(endpoint: WebhookEndpoint): string {
  const { id, tenant, url, status, events, agents, description } = endpoint;
  const parts = [
    ...[id, status, tenant === undefined ? 'every tenant' : `tenant ${tenant}`, visible(url)],
    ...(events === undefined ? [] : [`events ${events.join(',')}`]),
    ...(agents === undefined ? [] : [`agents ${agents.join(',')}`]),
    ...(description === undefined ? [] : [visible(description)]),
  ];
  return parts.join('  ');
}

function secretText(secret: string): string {
  return `secret  ${secret}  (shown only now)`;
}

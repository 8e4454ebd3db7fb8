/** The sender of webhooks in a worker. */
import { rangeProblem } from '../define/http/addresses.js';
import type { Logger } from '../define/tool/context.js';
import type { OpenLog } from '../projection/source/open-log.js';
import { isRecord } from '../protocol/values/json.js';
import { configuredProblems, putConfigured, putDeliverEndpoint } from '../webhooks/endpoints.js';
import { createWebhookSender } from '../webhooks/sender.js';
import type { ColloquyWorkerOptions } from './options.js';

type Given = ColloquyWorkerOptions<unknown>['webhooks'];

interface Watch {
  start(): void;
  stop(): Promise<void>;
}

/** Puts the endpoints of the options into the store. None where the store has no webhooks, or the worker sends none. */
export async function workerWebhooks(
  given: Given,
  { opened: { webhooks: store }, logger }: { readonly opened: OpenLog; readonly logger: Logger },
): Promise<readonly Watch[]> {
  if (given === false || store === undefined) return [];
  const { endpoints = [], deliver, allowPrivate } = given ?? {};
  await putConfigured(store, endpoints);
  if (deliver !== undefined) await putDeliverEndpoint(store);
  return [createWebhookSender({ store, deliver, allowPrivate, logger })];
}

const FIELDS: readonly string[] = ['endpoints', 'deliver', 'allowPrivate'];

/** @throws {TypeError} that names the field and the rule */
export function checkWebhooks(given: unknown): void {
  if (given === undefined || given === false) return;
  if (!isRecord(given) || Object.keys(given).some((key) => !FIELDS.includes(key)))
    throw new TypeError(`webhooks must be false, or an object of ${FIELDS.join(', ')}`);
  const { endpoints = [], deliver, allowPrivate } = given;
  const [problem] = configuredProblems(endpoints);
  if (problem !== undefined)
    throw new TypeError(`webhooks.endpoints${problem.path} ${problem.message}`);
  if (deliver !== undefined && typeof deliver !== 'function')
    throw new TypeError('webhooks.deliver must be a function that takes an event');
  checkPrivate(allowPrivate);
}

function checkPrivate(given: unknown): void {
  if (given === undefined || given === true) return;
  if (!Array.isArray(given))
    throw new TypeError('webhooks.allowPrivate must be true, or a list of addresses');
  for (const [index, entry] of (given as readonly unknown[]).entries()) {
    const problem = rangeProblem(entry);
    if (problem !== undefined) throw new TypeError(`webhooks.allowPrivate[${index}] ${problem}`);
  }
}

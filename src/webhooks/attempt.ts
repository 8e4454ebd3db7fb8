/** One attempt of a delivery: a signed request, or a call of the application's function. */
import type { WebhookEnvelope } from '../protocol/log/webhook-events.js';
import { cutText } from '../protocol/values/well-formed.js';
import type { ClaimedDelivery, DeliveryResult, WebhookTarget } from '../store/ports/webhooks.js';
import { DELIVER_URL } from './endpoints.js';
import type { Post } from './post.js';
import { MAX_ATTEMPTS, retryAtMs } from './retries.js';
import { signatureHeaders } from './signature.js';

/**
 * Takes an event in place of an HTTP request. Resolves when it is done; a rejection is tried again later, and so is a
 * call that takes too long: then `signal` is aborted.
 */
export type DeliverWebhook = (
  event: WebhookEnvelope,
  context: { readonly signal: AbortSignal },
) => Promise<void>;

export interface AttemptParts {
  readonly deliver: DeliverWebhook | undefined;
  readonly post: Post;
  readonly timeoutMs: number;
  /** Aborted when the sender gives up what runs. */
  readonly stopped: AbortSignal;
  readonly now: () => number;
  readonly random: () => number;
}

const MAX_ERROR_CHARS = 300;

/** Never throws, and resolves when the time is over at the latest. */
export async function attempt(
  parts: AttemptParts,
  target: WebhookTarget,
  delivery: ClaimedDelivery,
): Promise<DeliveryResult> {
  // The claim has counted this attempt, so a delivery whose attempts kill the process ends as well.
  if (delivery.attempts > MAX_ATTEMPTS)
    return { type: 'failed', error: delivery.lastError ?? 'no attempt came to an end' };
  try {
    return await within(parts, (signal) => sent(parts, { target, delivery, signal }));
  } catch (error) {
    return failed(parts, delivery, { error: messageOf(error) });
  }
}

async function sent(
  parts: AttemptParts,
  {
    target: { endpoint, secrets },
    delivery,
    signal,
  }: {
    readonly target: WebhookTarget;
    readonly delivery: ClaimedDelivery;
    readonly signal: AbortSignal;
  },
): Promise<DeliveryResult> {
  if (endpoint.url === DELIVER_URL) {
    await parts.deliver?.(delivery.event, { signal });
    return { type: 'delivered' };
  }
  const body = JSON.stringify(delivery.event);
  const signed = { id: delivery.id, body, nowMs: parts.now() };
  const { status, retryAfter } = await parts.post(endpoint.url, {
    headers: {
      'content-type': 'application/cloudevents+json; charset=utf-8',
      'user-agent': 'colloquy-webhooks',
      ...signatureHeaders(signed, secrets),
    },
    body,
    signal,
  });
  if (status >= 200 && status < 300) return { type: 'delivered', httpStatus: status };
  const error = `the receiver answered ${status}`;
  if (status === 410) return { type: 'gone', error, httpStatus: status };
  return failed(parts, delivery, { error, httpStatus: status, retryAfter });
}

function failed(
  { now, random }: AttemptParts,
  { attempts }: ClaimedDelivery,
  {
    retryAfter,
    ...failure
  }: {
    readonly error: string;
    readonly httpStatus?: number;
    readonly retryAfter?: string | undefined;
  },
): DeliveryResult {
  const at = retryAtMs({ attempts, nowMs: now(), retryAfter, random: random() });
  return { type: 'failed', ...failure, ...(at === undefined ? {} : { retryAtMs: at }) };
}

/** Rejects when the time is over or the sender has stopped, whether or not the work heeds its signal. */
async function within<Value>(
  { timeoutMs, stopped }: AttemptParts,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const controller = new AbortController();
  const { signal } = controller;
  const over = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => {
      reject(signal.reason as Error);
    });
  });
  const stop = (): void => {
    controller.abort(new Error('the sender was stopped'));
  };
  const timer = setTimeout(() => {
    controller.abort(new Error(`it took longer than ${timeoutMs} ms`));
  }, timeoutMs);
  stopped.addEventListener('abort', stop);
  try {
    if (stopped.aborted) stop();
    return await Promise.race([over, work(signal)]);
  } finally {
    clearTimeout(timer);
    stopped.removeEventListener('abort', stop);
  }
}

/** Includes the cause, because `fetch` itself says only that it failed. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return storable(String(error));
  const { message, cause } = error;
  const text = cause instanceof Error ? `${message}: ${cause.message}` : message;
  return storable(text);
}

/** A database refuses text with NUL. */
function storable(text: string): string {
  return cutText(text.replaceAll('\0', ''), MAX_ERROR_CHARS);
}

/** Signatures of Standard Webhooks: secrets, and the headers of one attempt. */
import { createHmac, randomBytes } from 'node:crypto';
import type { WebhookSecrets } from '../store/ports/webhooks.js';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;
const MIN_SECRET_BYTES = 24;
const MAX_SECRET_BYTES = 64;

/** The rule of secrets, for refusals. */
export const SECRET_RULE = `must be "${PREFIX}" and ${MIN_SECRET_BYTES} to ${MAX_SECRET_BYTES} bytes in base64`;

export function newSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

export function isSecret(text: string): boolean {
  if (!text.startsWith(PREFIX) || !/^[A-Za-z\d+/]+={0,2}$/.test(text.slice(PREFIX.length)))
    return false;
  const { length } = keyOf(text);
  return length >= MIN_SECRET_BYTES && length <= MAX_SECRET_BYTES;
}

export interface Signed {
  readonly id: string;
  readonly body: string;
  readonly nowMs: number;
}

/** Headers by the secrets that hold now: one signature for each. @see https://www.standardwebhooks.com */
export function signatureHeaders(
  { id, body, nowMs }: Signed,
  { current, previous }: WebhookSecrets,
): Readonly<Record<string, string>> {
  const timestamp = Math.floor(nowMs / 1_000);
  const held = previous?.flatMap(({ secret, untilMs }) => (nowMs < untilMs ? [secret] : []));
  const signatures = [current, ...(held ?? [])].map((secret) => {
    const hash = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`);
    return `v1,${hash.digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  };
}

function keyOf(secret: string): Buffer {
  return Buffer.from(secret.slice(PREFIX.length), 'base64');
}

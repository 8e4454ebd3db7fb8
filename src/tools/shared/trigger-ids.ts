/** Ids of the triggers that a tool makes without naming them. */
import { createHash } from 'node:crypto';

/** The same sequence of ids in each run of a call, so that a repeated run makes no second trigger. */
export function triggerIds(idempotencyKey: string): () => string {
  const digest = createHash('sha256').update(idempotencyKey).digest('hex').slice(0, 16);
  let made = 0;
  return () => {
    made += 1;
    return `t-${digest}-${made}`;
  };
}

/** Ids that a repeated run of a call gets again. */
import { createHash } from 'node:crypto';

export function madeId(prefix: string, ...parts: readonly (string | number)[]): string {
  const hash = createHash('sha256').update(JSON.stringify(parts));
  return `${prefix}_${hash.digest('hex').slice(0, 12)}`;
}

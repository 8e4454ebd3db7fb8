/** Who sends the requests of a page. */
import type { Actor } from '../protocol/values/actors.js';

/** The identity of the caller (`GET /v1/session`). */
export interface Caller {
  readonly actor: Actor;
  /** False where nothing has proven who the caller is, such as with the development identity. */
  readonly verified: boolean;
  /** The first is the default. */
  readonly tenants: readonly string[];
  readonly rights: readonly string[];
  /** The only conversation that the caller may name. */
  readonly conversation?: string;
  /** ISO 8601. */
  readonly expiresAt?: string;
}

/** The worklist as a page shows it, and who reads it. */
import type { WorklistCounts, WorklistItem } from '../../protocol/log/worklist.js';
import type { Actor } from '../../protocol/values/actors.js';
import type { Connection } from '../net/following.js';

/** Plain values that never change; a changed part is a new value. */
export interface WorklistView {
  readonly connection: Connection;
  /** In no order but that of their coming. An item that has not changed is the same object. */
  readonly items: readonly WorklistItem[];
  /** Absent until they are known. */
  readonly counts?: WorklistCounts;
  /** Whether the list was read to its end once; a lost connection does not change it. */
  readonly isRead: boolean;
}

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

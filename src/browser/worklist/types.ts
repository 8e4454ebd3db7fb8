/** The worklist as a page shows it. */
import type { WorklistCounts, WorklistItem } from '../../protocol/log/worklist.js';
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

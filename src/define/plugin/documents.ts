/** Documents that a worker's event log keeps for its agents, as tools and plugins use them. Runs anywhere. */
import type { Json } from '../../protocol/values/json.js';
import type { Port } from '../tool/ports.js';

/** The documents of one owner. No other tenant, kind or owner has any of them. */
export interface DocumentsOf {
  readonly tenant: string;
  /** Names the feature that keeps them. */
  readonly kind: string;
  readonly owner: string;
}

export interface KeptDocument {
  /** Unique among the documents of the owner. */
  readonly name: string;
  /** Greater than that of every earlier change of a document of the owner, also after a deletion. */
  readonly version: number;
  /** Version of the first document of this name since there was none; `version`, if it is that one. */
  readonly since: number;
  readonly document: Json;
  /** ISO 8601 */
  readonly changedAt: string;
}

/** Each method is atomic. Those who use it bound names and documents. */
export interface Documents {
  /** By name, `limit` at most. */
  list(of: DocumentsOf, limit: number): Promise<readonly KeptDocument[]>;
  get(of: DocumentsOf, name: string): Promise<KeptDocument | undefined>;
  /**
   * Stores documents, in place of those with their names. Undefined, with nothing changed, when the owner would have
   * more than `most`, or documents that `accepts` refuses. It must be pure, and no other write comes between; `before`
   * is what the owner has now.
   */
  put(
    of: DocumentsOf,
    given: {
      /** Names that differ. */
      readonly documents: readonly Pick<KeptDocument, 'name' | 'document'>[];
      readonly most: number;
      readonly accepts?: (
        documents: readonly Pick<KeptDocument, 'name' | 'document'>[],
        before: readonly Pick<KeptDocument, 'name' | 'document'>[],
      ) => boolean;
      readonly nowMs: number;
    },
  ): Promise<readonly KeptDocument[] | undefined>;
  /** The names of those that there were. Safe to repeat. */
  delete(of: DocumentsOf, names: readonly string[]): Promise<readonly string[]>;
}

/** Workers have it where their event log keeps documents. */
export const DOCUMENTS: Port<Documents> = { id: 'documents' };

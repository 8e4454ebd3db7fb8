/**
 * Documents that features keep for an owner, such as the tools of an agent that change at run time: JSON by name, with
 * versions. Writers of one owner take turns. Callers check names, sizes and numbers. Every method may reject with
 * `StoreUnavailable`.
 */
import type { Json } from '../../../protocol/values/json.js';

export interface DocumentsKey {
  readonly tenant: string;
  /** Names the feature that keeps them. */
  readonly kind: string;
  readonly owner: string;
}

export interface StoredDocument {
  readonly name: string;
  /** Greater than that of every earlier change of a document of the owner, also after a deletion. */
  readonly version: number;
  /** Version of the first document of this name since there was none; `version`, if it is that one. */
  readonly since: number;
  readonly document: Json;
  /** ISO 8601 */
  readonly changedAt: string;
}

export type NamedDocument = Pick<StoredDocument, 'name' | 'document'>;

export interface DocumentsPut {
  /** Names that differ. */
  readonly documents: readonly NamedDocument[];
  /** Documents that the owner may have. */
  readonly most: number;
  /**
   * Judges the documents that the owner would then have, and those that it has, in no order, while no other writer of
   * the owner comes between. False: nothing is stored. Must be pure, because a transaction may run again.
   */
  readonly accepts?:
    | ((documents: readonly NamedDocument[], before: readonly NamedDocument[]) => boolean)
    | undefined;
  /** Milliseconds since 1970 */
  readonly nowMs: number;
}

export interface DocumentStore {
  /** In the order of the bytes of their names; `limit` at most. */
  list(key: DocumentsKey, limit: number): Promise<readonly StoredDocument[]>;
  get(key: DocumentsKey, name: string): Promise<StoredDocument | undefined>;
  /**
   * Stores documents, each in place of the one with its name; all, or none: undefined when the owner would have more
   * than `most`, or documents that are not accepted.
   */
  put(key: DocumentsKey, given: DocumentsPut): Promise<readonly StoredDocument[] | undefined>;
  /** Resolves to the names of those that there were. Safe to repeat. */
  delete(key: DocumentsKey, names: readonly string[]): Promise<readonly string[]>;
  /** Owners that have documents of the kind, in the order of the bytes of their names, behind `after`. */
  owners(of: {
    readonly tenant: string;
    readonly kind: string;
    readonly limit: number;
    readonly after?: string | undefined;
  }): Promise<readonly string[]>;
  /** Removes all of a tenant; resolves to their number. Safe to repeat. */
  removeOfTenant(tenant: string): Promise<number>;
}

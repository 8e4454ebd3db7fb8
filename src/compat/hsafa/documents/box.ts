/** The documents of a store, checked before they are stored. Runs anywhere. */
import { DefinitionError } from '../../../define/checks/problems.js';
import { isRecord } from '../../../protocol/values/json.js';
import { storable, type Warning } from './findings.js';
import { MAX_STORED_BYTES } from './forms.js';
import type { DocumentOwner, DocumentStore, Stored } from './stores.js';

/** A stored document, with the warnings of its check. */
export type PutDocument<Document> = Stored<Document> & { readonly warnings: readonly Warning[] };

/** Lists, stores and deletes the documents of agents. */
export interface DocumentBox<Document> {
  list(of: DocumentOwner): Promise<readonly Stored<Document>[]>;
  /**
   * Stores a document, or its next version, for the model calls that follow.
   * @throws {DefinitionError} invalid_definition with every fault, also when it is too large, or one too many
   */
  put(of: DocumentOwner, document: unknown): Promise<PutDocument<Document>>;
  /** Whether there was one. */
  delete(of: DocumentOwner, name: string): Promise<boolean>;
}

interface BoxRules {
  /** Singular, for errors: `tool document`. */
  readonly kind: string;
  /** Documents of one agent of a tenant. */
  readonly most: number;
  /** @throws {DefinitionError} invalid_definition with every fault */
  readonly check: (document: unknown) => { readonly warnings: readonly Warning[] };
}

export function documentBox<Document extends { readonly name: string }>(
  store: DocumentStore<Document>,
  { kind, most, check }: BoxRules,
): DocumentBox<Document> {
  return {
    list: async (of) => await store.list(of, most),
    put: async (of, given) => {
      const named = isRecord(given) && typeof given['name'] === 'string';
      const subject = named ? `${kind} ${JSON.stringify(given['name'])}` : `a ${kind}`;
      const because = `, since each call keeps its ${kind}`;
      const document = storable(given, { subject, most: MAX_STORED_BYTES, because }) as Document;
      const { warnings } = check(document);
      const stored = await store.put(of, document, most);
      if (stored !== undefined) return { ...stored, warnings };
      const rule = `the agent has ${most} ${kind}s already`;
      throw new DefinitionError(subject, [{ field: '', rule }]);
    },
    delete: async (of, name) => await store.delete(of, name),
  };
}

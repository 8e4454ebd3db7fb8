/**
 * Goals and memories by entity, as agents with `spacesPlugin({ memory: {} })` keep them beside the event log, for the
 * code of an application: to show, export and delete them.
 */
import { checkNumber } from '../client/api/checks.js';
import { invalidField } from '../client/api/errors.js';
import { DEFAULT_TENANT, idProblem } from '../protocol/values/ids.js';
import type { DocumentStore } from '../store/ports/documents/documents.js';
import { entityProblem, MEMORY_KIND, memoryIn } from './plugin/memory.js';
import type { Notes } from './plugin/state.js';

/** Entities of one page. */
const MAX_PAGE = 100;

export interface MemoriesOf {
  /** @defaultValue the tenant of the application */
  readonly tenant?: string | undefined;
}

export interface EntityPage {
  readonly entities: readonly string[];
  readonly nextCursor?: string;
}

/** An entity with its goals by id, and its memories by key. */
export interface EntityNotes extends Notes {
  readonly entity: string;
}

/** Every method rejects with `ConversationError` `invalid_request`, naming the field, and with `StoreUnavailable`. */
export class MemoryClient {
  readonly #documents: DocumentStore;
  readonly #tenant: string;

  constructor(documents: DocumentStore, defaults: MemoriesOf) {
    this.#documents = documents;
    this.#tenant = defaults.tenant ?? DEFAULT_TENANT;
  }

  /** The entities of the tenant that have goals or memories, in the order of the bytes of their names. */
  async list(
    options: MemoriesOf & {
      /** 1 to 100 @defaultValue 100 */
      readonly limit?: number | undefined;
      /** `nextCursor` of the page before. */
      readonly cursor?: string | undefined;
    } = {},
  ): Promise<EntityPage> {
    const { limit = MAX_PAGE, cursor } = options;
    checkNumber('limit', limit, { least: 1, most: MAX_PAGE });
    if (cursor !== undefined) checkEntity('cursor', cursor);
    const of = { tenant: this.#tenantIn(options), kind: MEMORY_KIND };
    // One more says whether there is a next page.
    const found = await this.#documents.owners({ ...of, limit: limit + 1, after: cursor });
    const entities = found.slice(0, limit);
    const last = entities.at(-1);
    const isLast = found.length <= limit || last === undefined;
    return { entities, ...(isLast ? {} : { nextCursor: last }) };
  }

  /** Empty for an entity that has none. */
  async get(entity: string, options: MemoriesOf = {}): Promise<EntityNotes> {
    checkEntity('entity', entity);
    const of = { tenant: this.#tenantIn(options), entity };
    return { entity, ...(await memoryIn(this.#documents).read(of)) };
  }

  /** Each entity of the tenant with its notes, a page at a time: an entity that is new meanwhile may be left out. */
  async *export(options: MemoriesOf = {}): AsyncGenerator<EntityNotes, void> {
    for (let cursor: string | undefined; ; ) {
      const page: EntityPage = await this.list({ ...options, cursor });
      for (const entity of page.entities) yield await this.get(entity, options);
      cursor = page.nextCursor;
      if (cursor === undefined) return;
    }
  }

  /** Deletes the goals and memories of an entity; resolves to their number. Safe to repeat. */
  async delete(entity: string, options: MemoriesOf = {}): Promise<number> {
    checkEntity('entity', entity);
    const key = { tenant: this.#tenantIn(options), kind: MEMORY_KIND, owner: entity };
    let count = 0;
    // Also notes in a form that this version does not read.
    for (;;) {
      const kept = await this.#documents.list(key, MAX_PAGE);
      if (kept.length === 0) return count;
      const names = kept.map(({ name }) => name);
      count += (await this.#documents.delete(key, names)).length;
    }
  }

  #tenantIn({ tenant = this.#tenant }: MemoriesOf): string {
    const problem = idProblem('tenant', tenant);
    if (problem !== undefined) throw invalidField('/tenant', problem);
    return tenant;
  }
}

function checkEntity(field: string, value: unknown): void {
  const problem = entityProblem(value);
  if (problem !== undefined) throw invalidField(`/${field}`, `must be ${problem}`);
}

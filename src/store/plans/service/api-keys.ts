/** API keys over a table of texts, which every database has. */
import type { ApiKeyRecord, ApiKeyStore } from '../../ports/service/api-keys.js';

/** Rows of an id and a text. */
export interface KeyTable {
  /** False if the id is taken. */
  insert(id: string, text: string): Promise<boolean>;
  get(id: string): Promise<string | undefined>;
  /** By id. */
  all(): Promise<readonly string[]>;
  /** Replaces the text if it is still `before`. False if it is another one. */
  swap(id: string, before: string, after: string): Promise<boolean>;
}

export class TableOfApiKeys implements ApiKeyStore {
  readonly #table: KeyTable;

  constructor(table: KeyTable) {
    this.#table = table;
  }

  async add(record: ApiKeyRecord): Promise<boolean> {
    return await this.#table.insert(record.id, JSON.stringify(record));
  }

  async find(id: string): Promise<ApiKeyRecord | undefined> {
    const text = await this.#table.get(id);
    return text === undefined ? undefined : recordOf(text);
  }

  async list(): Promise<readonly ApiKeyRecord[]> {
    return (await this.#table.all()).map(recordOf);
  }

  async change(
    id: string,
    change: (record: ApiKeyRecord) => ApiKeyRecord,
  ): Promise<ApiKeyRecord | undefined> {
    for (;;) {
      const before = await this.#table.get(id);
      if (before === undefined) return undefined;
      const after = change(recordOf(before));
      if (await this.#table.swap(id, before, JSON.stringify(after))) return after;
    }
  }
}

function recordOf(text: string): ApiKeyRecord {
  return JSON.parse(text) as ApiKeyRecord;
}

/** API keys of callers of the HTTP API: part of the event log port, so that every API process knows them. */

/** One key. Secrets are not in it, only their digests. */
export interface ApiKeyRecord {
  readonly id: string;
  /** Id of the actor of all that is sent with the key. */
  readonly name: string;
  readonly tenants: readonly string[];
  readonly roles: readonly string[];
  readonly rights: readonly string[];
  /** SHA-256 of the secret, in hexadecimal. */
  readonly hash: string;
  /** The secret before the last rotation, until this time (ISO 8601). */
  readonly previous?: { readonly hash: string; readonly until: string };
  /** ISO 8601, as are all times here. */
  readonly createdAt: string;
  readonly rotatedAt?: string;
  readonly expiresAt?: string;
  readonly revokedAt?: string;
}

export interface ApiKeyStore {
  /** False if there is a key of this id, which is kept. */
  add(record: ApiKeyRecord): Promise<boolean>;
  find(id: string): Promise<ApiKeyRecord | undefined>;
  /** In the order of their ids. */
  list(): Promise<readonly ApiKeyRecord[]>;
  /**
   * Replaces a record by what `change` makes of it, which may be called again where another process was faster. Returns
   * the new record; undefined if there is none of this id.
   */
  change(
    id: string,
    change: (record: ApiKeyRecord) => ApiKeyRecord,
  ): Promise<ApiKeyRecord | undefined>;
}

/**
 * The event log in one sqlite file: the embedded default. Worker and API processes share the file; writers take turns,
 * readers never wait (write-ahead log). For one machine: the file must not lie on a network drive.
 */

import type { AgentManifest } from '../../protocol/conversation/agents.js';
import type {
  ConversationId,
  ConversationKey,
  NameableKeys,
  TurnId,
} from '../../protocol/values/ids.js';
import type { Trouble } from '../../protocol/values/trouble.js';
import { openCallOf, unclaimedQuery } from '../plans/open-calls.js';
import { NO_CONVERSATIONS, requestOf, shownManifest, withAttention } from '../plans/presence.js';
import { textIn } from '../plans/rows.js';
import { TableOfApiKeys } from '../plans/service/api-keys.js';
import type { BlobStore } from '../ports/blobs.js';
import type { Deletions } from '../ports/deletions.js';
import type { DocumentStore } from '../ports/documents/documents.js';
import type { CallLease, CallLeases } from '../ports/leases.js';
import type { ConversationLists, ListOptions } from '../ports/lists.js';
import type { AppendBatch, EventLog, ReadOptions, SeenRun, WantedLease } from '../ports/log.js';
import type { OpenCallsRead } from '../ports/open-calls.js';
import type { AnnouncedWorker } from '../ports/presence.js';
import type { ApiKeyStore } from '../ports/service/api-keys.js';
import type { SpaceStore } from '../ports/spaces/spaces.js';
import type { Troubles } from '../ports/troubles.js';
import type { WebhookStore } from '../ports/webhooks.js';
import type { WorklistRequest } from '../ports/worklist.js';
import { appendBatch } from './append.js';
import { SqliteBlobStore } from './blobs.js';
import { SqliteDatabase } from './database/database.js';
import {
  beginDeletion,
  extendDeletion,
  finishDeletion,
  forgetDeletions,
  readDeletion,
  readKeysOfTenant,
  readUnfinished,
} from './deletions.js';
import { SqliteDocumentStore } from './documents/store.js';
import { keyTable } from './keys/api-keys.js';
import {
  acquireLease,
  dropLease,
  markLapsed,
  readHeldLease,
  readLapsed,
  readLeases,
  renewLease,
} from './leases.js';
import {
  listSnapshots,
  readChanges,
  readClosedBefore,
  readCounts,
  readListedIn,
  readNotOpen,
  readOpenHeads,
  readRecentHeads,
  readUnknown,
  SQLITE,
} from './lists.js';
import { countWaiting, readWaiting, readWaitingIn } from './pending.js';
import {
  announceWorker,
  beatWorker,
  readAgents,
  readGoneAgents,
  readLiveWorkers,
  readSilentWorkers,
  withdrawWorker,
} from './presence.js';
import { findTurnKey, readEvents, readHead, readTurnEvents } from './read.js';
import { SqliteSpaceStore } from './spaces/store.js';
import { clearTrouble, markTrouble, readTrouble, readTroubles } from './troubles.js';
import { SqliteWebhookStore } from './webhooks/store.js';

export interface SqliteEventLogOptions {
  /** Path of the database file; created with its folder when absent. `:memory:` for tests. */
  readonly file: string;
  /**
   * `normal` survives any killed process; a power cut may cost the last commits. `full` survives that, too, for one
   * disk flush a write.
   * @defaultValue 'normal'
   */
  readonly synchronous?: 'normal' | 'full';
}

export interface OpenStores {
  readonly log: EventLog;
  readonly blobs: BlobStore;
  readonly webhooks: WebhookStore;
  readonly spaces: SpaceStore;
  readonly documents: DocumentStore;
}

/**
 * Opens the log, and the blobs, webhooks, spaces and documents in the same file; closing the log closes them. Any number of
 * processes may have them open.
 * @throws {StoreUnavailable} naming the file, when it cannot be opened, is damaged, or was written by a newer version.
 */
export async function openSqliteStores(options: SqliteEventLogOptions): Promise<OpenStores> {
  const database = await SqliteDatabase.open(options.file, options.synchronous ?? 'normal');
  return {
    log: new SqliteEventLog(database),
    blobs: new SqliteBlobStore(database),
    webhooks: new SqliteWebhookStore(database),
    spaces: new SqliteSpaceStore(database),
    documents: new SqliteDocumentStore(database),
  };
}

class SqliteEventLog implements EventLog {
  readonly apiKeys: ApiKeyStore;
  readonly #database: SqliteDatabase;

  constructor(database: SqliteDatabase) {
    this.apiKeys = new TableOfApiKeys(keyTable(database));
    this.#database = database;
  }

  async append(batch: AppendBatch) {
    return await this.#database.write(() => appendBatch(this.#database, batch));
  }

  async head(key: ConversationKey) {
    return await this.#database.read(() => readHead(this.#database, key));
  }

  async read(key: ConversationKey, options: ReadOptions = {}) {
    return await this.#database.read(() => readEvents(this.#database, key, options));
  }

  async readTurn(key: ConversationKey, turnId: TurnId) {
    return await this.#database.read(() => readTurnEvents(this.#database, key, turnId));
  }

  async findTurn(turnId: TurnId, among?: NameableKeys) {
    return await this.#database.read(() => findTurnKey(this.#database, turnId, among));
  }

  async list(options: ListOptions = {}) {
    return await this.#database.read(() => {
      const gone = readGoneAgents(this.#database);
      const request = requestOf(options, gone);
      return request === undefined
        ? NO_CONVERSATIONS
        : withAttention(listSnapshots(this.#database, request), gone);
    });
  }

  async waiting(request: WorklistRequest) {
    return await this.#database.read(() => readWaiting(this.#database, request));
  }

  async waitingIn(tenant: string, conversationIds: readonly ConversationId[]) {
    return await this.#database.read(() => readWaitingIn(this.#database, tenant, conversationIds));
  }

  async countWaiting(request: WorklistRequest) {
    return await this.#database.read(() => countWaiting(this.#database, request));
  }

  async unclaimedCalls(options: OpenCallsRead) {
    const { sql, values } = unclaimedQuery(options, SQLITE);
    return await this.#database.read(() => this.#database.all(sql, ...values).map(openCallOf));
  }

  async openHeads(options: Parameters<ConversationLists['openHeads']>[0]) {
    return await this.#database.read(() => readOpenHeads(this.#database, options));
  }

  async recentHeads(options: Parameters<ConversationLists['recentHeads']>[0]) {
    return await this.#database.read(() => readRecentHeads(this.#database, options));
  }

  async changes(options: Parameters<ConversationLists['changes']>[0]) {
    return await this.#database.read(() => readChanges(this.#database, options));
  }

  async listedIn(tenant: string, conversationIds: readonly ConversationId[]) {
    return await this.#database.read(() => {
      const gone = readGoneAgents(this.#database);
      return readListedIn(this.#database, { tenant, ids: conversationIds }, gone);
    });
  }

  async notOpen(keys: readonly ConversationKey[]) {
    return await this.#database.read(() => readNotOpen(this.#database, keys));
  }

  async unknown(keys: readonly ConversationKey[]) {
    return await this.#database.read(() => readUnknown(this.#database, keys));
  }

  async closedBefore(options: Parameters<ConversationLists['closedBefore']>[0]) {
    return await this.#database.read(() => readClosedBefore(this.#database, options));
  }

  async markTrouble(key: ConversationKey, trouble: Trouble) {
    return await this.#database.write(() => markTrouble(this.#database, key, trouble));
  }

  async clearTrouble(key: ConversationKey) {
    return await this.#database.write(() => clearTrouble(this.#database, key));
  }

  async trouble(key: ConversationKey) {
    return await this.#database.read(() => readTrouble(this.#database, key));
  }

  async troubles(options: Parameters<Troubles['troubles']>[0]) {
    return await this.#database.read(() => readTroubles(this.#database, options));
  }

  async counts() {
    return await this.#database.read(() => readCounts(this.#database));
  }

  async beginDeletion(request: Parameters<Deletions['beginDeletion']>[0]) {
    return await this.#database.write(() => beginDeletion(this.#database, request));
  }

  async extendDeletion(request: Parameters<Deletions['extendDeletion']>[0]) {
    await this.#database.write(() => {
      extendDeletion(this.#database, request);
    });
  }

  async finishDeletion(request: Parameters<Deletions['finishDeletion']>[0]) {
    await this.#database.write(() => {
      finishDeletion(this.#database, request);
    });
  }

  async deletion(key: ConversationKey) {
    return await this.#database.read(() => readDeletion(this.#database, key));
  }

  async unfinishedDeletions(options: Parameters<Deletions['unfinishedDeletions']>[0]) {
    return await this.#database.read(() => readUnfinished(this.#database, options));
  }

  async keysOfTenant(options: Parameters<Deletions['keysOfTenant']>[0]) {
    return await this.#database.read(() => readKeysOfTenant(this.#database, options));
  }

  async forgetDeletions(options: Parameters<Deletions['forgetDeletions']>[0]) {
    return await this.#database.write(() => forgetDeletions(this.#database, options));
  }

  async touch(key: ConversationKey, { runId, historyLength, wasRunId }: SeenRun) {
    await this.#database.write(() =>
      this.#database.run(
        `UPDATE conversations SET run_id = ?, history_length = ?
         WHERE tenant = ? AND conversation_id = ? AND run_id IN (?, ?)`,
        ...[runId, historyLength, key.tenant, key.conversationId, runId, wasRunId],
      ),
    );
  }

  async publishAgents(manifests: readonly AgentManifest[]) {
    const now = new Date().toISOString();
    await this.#database.write(() => {
      for (const manifest of manifests)
        this.#database.run(
          `INSERT INTO agents (name, manifest, published_at) VALUES (?, ?, ?)
           ON CONFLICT (name) DO UPDATE SET manifest = excluded.manifest, published_at = excluded.published_at`,
          manifest.name,
          JSON.stringify(manifest),
          now,
        );
    });
  }

  async agents() {
    return await this.#database.read(() => readAgents(this.#database).map(shownManifest));
  }

  async announceWorker(worker: AnnouncedWorker) {
    await this.#database.write(() => {
      announceWorker(this.#database, worker);
    });
  }

  async withdrawWorker(id: string) {
    await this.#database.write(() => {
      withdrawWorker(this.#database, id);
    });
  }

  async liveWorkers() {
    return await this.#database.read(() => readLiveWorkers(this.#database));
  }

  async beatWorker(id: string) {
    await this.#database.write(() => {
      beatWorker(this.#database, id);
    });
  }

  async silentWorkers(forMs: number) {
    return await this.#database.read(() => readSilentWorkers(this.#database, forMs));
  }

  async goneAgents() {
    return await this.#database.read(() => readGoneAgents(this.#database));
  }

  async storeId() {
    const row = await this.#database.read(() => this.#database.get('SELECT id FROM store'));
    return textIn(row ?? {}, 'id');
  }

  async checkWritable() {
    await this.#database.write(() =>
      this.#database.run('UPDATE store SET checked_at_ms = ?', Date.now()),
    );
  }

  async acquireLease(lease: WantedLease) {
    return await this.#database.write(() => acquireLease(this.#database, lease));
  }

  async heldLease(name: string) {
    return await this.#database.read(() => readHeldLease(this.#database, name));
  }

  async releaseLease(lease: { name: string; holder: string }) {
    await this.#database.write(() =>
      this.#database.run(
        'DELETE FROM leases WHERE name = ? AND holder = ?',
        lease.name,
        lease.holder,
      ),
    );
  }

  async callLeases(key: ConversationKey) {
    return await this.#database.read(() => readLeases(this.#database, key));
  }

  async renewCallLease(renewal: Parameters<CallLeases['renewCallLease']>[0]) {
    return await this.#database.write(() => renewLease(this.#database, renewal));
  }

  async lapsedCallLeases(options: Parameters<CallLeases['lapsedCallLeases']>[0]) {
    const lapsed = await this.#database.read(() => readLapsed(this.#database, options));
    if (lapsed.length === 0) return [];
    return await this.#database.write(() =>
      lapsed.filter((lease) => markLapsed(this.#database, lease)),
    );
  }

  async dropCallLease(lease: CallLease) {
    await this.#database.write(() => {
      dropLease(this.#database, lease);
    });
  }

  async close() {
    this.#database.close();
  }
}

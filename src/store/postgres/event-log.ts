/**
 * The event log in Postgres: for workers and API processes on several machines. Writers of one conversation take turns
 * by the lock of its row; writers of different conversations never wait for each other.
 */

import type { AgentManifest } from '../../protocol/conversation/agents.js';
import type {
  ConversationId,
  ConversationKey,
  NameableKeys,
  TurnId,
} from '../../protocol/values/ids.js';
import type { Trouble } from '../../protocol/values/trouble.js';
import { heldLeaseOf } from '../plans/leases.js';
import { shownManifest } from '../plans/presence.js';
import { numberIn, textIn } from '../plans/rows.js';
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
import { keyTable } from './api-keys.js';
import { PostgresBlobStore } from './blobs.js';
import { appendBatch } from './conversations/append.js';
import { PostgresDeletions } from './conversations/deletions.js';
import { PostgresCallLeases } from './conversations/leases.js';
import { PostgresLists } from './conversations/lists.js';
import {
  announceWorker,
  beatWorker,
  readAgents,
  readGoneAgents,
  readLiveWorkers,
  readSilentWorkers,
  withdrawWorker,
} from './conversations/presence.js';
import { findTurnKey, readEvents, readHead, readTurnEvents } from './conversations/read.js';
import { PostgresTroubles } from './conversations/troubles.js';
import { NOW_MS, PostgresDatabase, type PostgresOptions } from './database/database.js';
import { PostgresDocumentStore } from './documents/store.js';
import { PostgresSpaceStore } from './spaces/store.js';
import { PostgresWebhookStore } from './webhooks/store.js';

export type PostgresEventLogOptions = PostgresOptions;

export interface OpenStores {
  readonly log: EventLog;
  readonly blobs: BlobStore;
  readonly webhooks: WebhookStore;
  readonly spaces: SpaceStore;
  readonly documents: DocumentStore;
}

/**
 * Opens the log, and the blobs, webhooks, spaces and documents in the same schema, and brings the tables to this version; closing
 * the log closes them. Any number of processes may have them open.
 * @throws {StoreUnavailable} naming the server (never its password), when it cannot be reached or the schema is of a
 *   newer version.
 */
export async function openPostgresStores(options: PostgresEventLogOptions): Promise<OpenStores> {
  const database = await PostgresDatabase.open(options);
  return {
    log: new PostgresEventLog(database),
    blobs: new PostgresBlobStore(database),
    webhooks: new PostgresWebhookStore(database),
    spaces: new PostgresSpaceStore(database),
    documents: new PostgresDocumentStore(database),
  };
}

class PostgresEventLog implements EventLog {
  readonly apiKeys: ApiKeyStore;
  readonly #database: PostgresDatabase;
  readonly #leases: PostgresCallLeases;
  readonly #lists: PostgresLists;
  readonly #deletions: PostgresDeletions;
  readonly #troubles: PostgresTroubles;

  constructor(database: PostgresDatabase) {
    this.#database = database;
    this.apiKeys = new TableOfApiKeys(keyTable(database));
    this.#leases = new PostgresCallLeases(database);
    this.#lists = new PostgresLists(database);
    this.#deletions = new PostgresDeletions(database);
    this.#troubles = new PostgresTroubles(database);
  }

  async append(batch: AppendBatch) {
    return await this.#database.write((queries) => appendBatch(this.#database, queries, batch));
  }

  async head(key: ConversationKey) {
    return await readHead(this.#database, key);
  }

  async read(key: ConversationKey, options: ReadOptions = {}) {
    return await readEvents(this.#database, key, options);
  }

  async readTurn(key: ConversationKey, turnId: TurnId) {
    return await readTurnEvents(this.#database, key, turnId);
  }

  async findTurn(turnId: TurnId, among?: NameableKeys) {
    return await findTurnKey(this.#database, turnId, among);
  }

  async list(options: ListOptions = {}) {
    return await this.#lists.list(options);
  }

  async waiting(request: WorklistRequest) {
    return await this.#lists.waiting(request);
  }

  async waitingIn(tenant: string, conversationIds: readonly ConversationId[]) {
    return await this.#lists.waitingIn(tenant, conversationIds);
  }

  async countWaiting(request: WorklistRequest) {
    return await this.#lists.countWaiting(request);
  }

  async unclaimedCalls(options: OpenCallsRead) {
    return await this.#lists.unclaimedCalls(options);
  }

  async openHeads(options: Parameters<ConversationLists['openHeads']>[0]) {
    return await this.#lists.openHeads(options);
  }

  async recentHeads(options: Parameters<ConversationLists['recentHeads']>[0]) {
    return await this.#lists.recentHeads(options);
  }

  async changes(options: Parameters<ConversationLists['changes']>[0]) {
    return await this.#lists.changes(options);
  }

  async listedIn(tenant: string, conversationIds: readonly ConversationId[]) {
    return await this.#lists.listedIn(tenant, conversationIds);
  }

  async notOpen(keys: readonly ConversationKey[]) {
    return await this.#lists.notOpen(keys);
  }

  async unknown(keys: readonly ConversationKey[]) {
    return await this.#lists.unknown(keys);
  }

  async closedBefore(options: Parameters<ConversationLists['closedBefore']>[0]) {
    return await this.#lists.closedBefore(options);
  }

  async markTrouble(key: ConversationKey, trouble: Trouble) {
    return await this.#troubles.markTrouble(key, trouble);
  }

  async clearTrouble(key: ConversationKey) {
    return await this.#troubles.clearTrouble(key);
  }

  async trouble(key: ConversationKey) {
    return await this.#troubles.trouble(key);
  }

  async troubles(options: Parameters<Troubles['troubles']>[0]) {
    return await this.#troubles.troubles(options);
  }

  async counts() {
    return await this.#lists.counts();
  }

  async beginDeletion(request: Parameters<Deletions['beginDeletion']>[0]) {
    return await this.#deletions.beginDeletion(request);
  }

  async extendDeletion(request: Parameters<Deletions['extendDeletion']>[0]) {
    await this.#deletions.extendDeletion(request);
  }

  async finishDeletion(request: Parameters<Deletions['finishDeletion']>[0]) {
    await this.#deletions.finishDeletion(request);
  }

  async deletion(key: ConversationKey) {
    return await this.#deletions.deletion(key);
  }

  async unfinishedDeletions(options: Parameters<Deletions['unfinishedDeletions']>[0]) {
    return await this.#deletions.unfinishedDeletions(options);
  }

  async keysOfTenant(options: Parameters<Deletions['keysOfTenant']>[0]) {
    return await this.#deletions.keysOfTenant(options);
  }

  async forgetDeletions(options: Parameters<Deletions['forgetDeletions']>[0]) {
    return await this.#deletions.forgetDeletions(options);
  }

  async touch(key: ConversationKey, { runId, historyLength, wasRunId }: SeenRun) {
    await this.#database.run(
      `UPDATE ${this.#database.table('conversations')} SET run_id = $1, history_length = $2
       WHERE tenant = $3 AND conversation_id = $4 AND run_id IN ($1, $5)`,
      ...[runId, historyLength, key.tenant, key.conversationId, wasRunId],
    );
  }

  async publishAgents(manifests: readonly AgentManifest[]) {
    if (manifests.length === 0) return;
    // In the order of names, so that two workers that start together never deadlock.
    const sorted = [...manifests].sort((left, right) => (left.name < right.name ? -1 : 1));
    await this.#database.run(
      `INSERT INTO ${this.#database.table('agents')} (name, manifest, published_at)
       SELECT name, manifest, now() FROM unnest($1::text[], $2::text[]) AS row (name, manifest)
       ON CONFLICT (name) DO UPDATE SET manifest = excluded.manifest, published_at = excluded.published_at`,
      sorted.map(({ name }) => name),
      sorted.map((manifest) => JSON.stringify(manifest)),
    );
  }

  async agents() {
    return (await readAgents(this.#database)).map(shownManifest);
  }

  async announceWorker(worker: AnnouncedWorker) {
    await announceWorker(this.#database, worker);
  }

  async withdrawWorker(id: string) {
    await withdrawWorker(this.#database, id);
  }

  async liveWorkers() {
    return await readLiveWorkers(this.#database);
  }

  async beatWorker(id: string) {
    await beatWorker(this.#database, id);
  }

  async silentWorkers(forMs: number) {
    return await readSilentWorkers(this.#database, forMs);
  }

  async goneAgents() {
    return await readGoneAgents(this.#database);
  }

  async storeId() {
    const row = await this.#database.get(`SELECT id FROM ${this.#database.table('store')}`);
    return textIn(row ?? {}, 'id');
  }

  async checkWritable() {
    await this.#database.run(
      `UPDATE ${this.#database.table('store')} SET checked_at_ms = ${NOW_MS}`,
    );
  }

  /** By the clock of the database, because those of the machines may differ. */
  async acquireLease({ name, holder, ttlMs, note }: WantedLease) {
    const changed = await this.#database.run(
      `INSERT INTO ${this.#database.table('leases')} AS held (name, holder, expires_at, note)
       VALUES ($1, $2, clock_timestamp() + $3 * interval '1 millisecond', $4)
       ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at,
         note = coalesce(excluded.note, held.note)
       WHERE held.holder = excluded.holder OR held.expires_at <= clock_timestamp()`,
      name,
      holder,
      ttlMs,
      note ?? null,
    );
    return changed > 0;
  }

  async heldLease(name: string) {
    const row = await this.#database.get(
      `SELECT holder, note, extract(epoch FROM expires_at - clock_timestamp()) * 1000 AS left_ms
       FROM ${this.#database.table('leases')} WHERE name = $1`,
      name,
    );
    return row === undefined ? undefined : heldLeaseOf(row, numberIn(row, 'left_ms'));
  }

  async releaseLease(lease: { name: string; holder: string }) {
    await this.#database.run(
      `DELETE FROM ${this.#database.table('leases')} WHERE name = $1 AND holder = $2`,
      lease.name,
      lease.holder,
    );
  }

  async callLeases(key: ConversationKey) {
    return await this.#leases.callLeases(key);
  }

  async renewCallLease(renewal: Parameters<CallLeases['renewCallLease']>[0]) {
    return await this.#leases.renewCallLease(renewal);
  }

  async lapsedCallLeases(options: Parameters<CallLeases['lapsedCallLeases']>[0]) {
    return await this.#leases.lapsedCallLeases(options);
  }

  async dropCallLease(lease: CallLease) {
    await this.#leases.dropCallLease(lease);
  }

  async close() {
    await this.#database.close();
  }
}

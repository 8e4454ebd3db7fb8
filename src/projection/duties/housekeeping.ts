/**
 * Further duties of the leader of the sweep: continues deletions that were begun and never finished, deletes
 * conversations that were closed long enough ago, and forgets old tombstones. A bounded number of each at a time, in
 * turn: those that cannot be deleted hold up no others.
 */
import type { Client } from '@temporalio/client';
import pLimit from 'p-limit';
import type { DeleteOutcome } from '../../client/api/types.js';
import { deleteConversation } from '../../client/deletion/delete.js';
import { Executions } from '../../client/temporal/executions.js';
import { TemporalGateway } from '../../client/temporal/temporal-gateway.js';
import { TriggerSchedules } from '../../client/triggers/schedules.js';
import { WhatIfRuns } from '../../client/what-ifs/runs.js';
import {
  DELETIONS_AT_ONCE,
  DELETIONS_PER_PASS,
  RESUME_DELETION_AFTER_MS,
  TOMBSTONE_MS,
} from '../../protocol/limits/service-limits.js';
import { SYSTEM_ACTOR } from '../../protocol/values/actors.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { conversationKey } from '../../protocol/values/ids.js';
import type { Deletion, Deletions } from '../../store/ports/deletions.js';
import type { ClosedHead, ConversationLists } from '../../store/ports/lists.js';
import type { OpenLog } from '../source/open-log.js';
import type { ProjectionLogger } from '../source/outages.js';
import { SILENT } from '../source/outages.js';
import { createDeletions } from './deletions.js';

/** `deleteConversation` of the client: undefined when the conversation has changed since. */
export type Delete = (
  key: ConversationKey,
  request: {
    readonly onlyClosedAt?: Pick<ClosedHead, 'generation' | 'runId' | 'lastSeq'>;
    readonly resumes?: readonly string[];
  },
) => Promise<DeleteOutcome | undefined>;

export interface HousekeepingDeps {
  readonly log: Pick<ConversationLists, 'closedBefore'> &
    Pick<Deletions, 'unfinishedDeletions' | 'forgetDeletions'>;
  readonly delete: Delete;
  readonly logger?: ProjectionLogger;
  /** Age in milliseconds after which closed conversations are deleted. Absent: none are. */
  readonly closedAfterMs?: number | undefined;
  /** The time, in milliseconds. */
  readonly now?: () => number;
  /** Age in milliseconds at which an unfinished deletion is continued here. @defaultValue `RESUME_DELETION_AFTER_MS` */
  readonly resumeAfterMs?: number;
}

/** Numbers of conversations. */
export interface HousekeepingReport {
  readonly resumed: number;
  readonly expired: number;
  /** Could not be deleted now; a later pass tries again. */
  readonly failed: number;
}

export class Housekeeping {
  readonly #deps: HousekeepingDeps;
  readonly #limited = pLimit(DELETIONS_AT_ONCE);
  /** When deletions were continued here, by conversation: the server takes its time, and more requests make it slower. */
  readonly #resumedAt = new Map<string, number>();
  /** The positions where the next pass continues; undefined = at the first. */
  #unfinishedAfter: Deletion | undefined;
  #closedAfter: ClosedHead | undefined;

  constructor(deps: HousekeepingDeps) {
    this.#deps = deps;
  }

  /**
   * Safe to repeat, and in several processes at once. Begins no further deletion once `isStopping()`: the next leader
   * does. @throws {StoreUnavailable}
   */
  async pass(isStopping: () => boolean = () => false): Promise<HousekeepingReport> {
    const { log, now = Date.now, resumeAfterMs } = this.#deps;
    const forMs = resumeAfterMs ?? RESUME_DELETION_AFTER_MS;
    const due = this.#due(await this.#unfinished(forMs), now() - forMs);
    const resumed = await this.#all(due, {
      requestOf: ({ runIds }) => ({ resumes: runIds }),
      isStopping,
    });
    const expired = await this.#all(await this.#expired(), {
      requestOf: ({ generation, runId, lastSeq }) => ({
        onlyClosedAt: { generation, runId, lastSeq },
      }),
      isStopping,
    });
    await log.forgetDeletions({ limit: DELETIONS_PER_PASS * 10, forMs: TOMBSTONE_MS });
    return {
      resumed: resumed.done,
      expired: expired.done,
      failed: resumed.failed + expired.failed,
    };
  }

  async #unfinished(forMs: number): Promise<readonly Deletion[]> {
    const after = this.#unfinishedAfter;
    const limit = DELETIONS_PER_PASS;
    const page = await this.#deps.log.unfinishedDeletions({ limit, forMs, after });
    this.#unfinishedAfter = page.length < limit ? undefined : page.at(-1);
    const isWhole = after === undefined && this.#unfinishedAfter === undefined;
    if (!isWhole) return page;
    const keys = new Set(page.map(conversationKey));
    for (const known of this.#resumedAt.keys()) if (!keys.has(known)) this.#resumedAt.delete(known);
    return page;
  }

  async #expired(): Promise<readonly ClosedHead[]> {
    const { log, closedAfterMs, now = Date.now } = this.#deps;
    if (closedAfterMs === undefined) return [];
    const after = this.#closedAfter;
    const limit = DELETIONS_PER_PASS;
    const closedBeforeMs = now() - closedAfterMs;
    const page = await log.closedBefore({ closedBeforeMs, limit, after });
    this.#closedAfter = page.length < limit ? undefined : page.at(-1);
    return page;
  }

  /** Those that were not continued since, noted as continued now. */
  #due<Key extends ConversationKey>(unfinished: readonly Key[], sinceMs: number): readonly Key[] {
    for (const [known, atMs] of this.#resumedAt) if (atMs <= sinceMs) this.#resumedAt.delete(known);
    const due = unfinished.filter(
      (key) => (this.#resumedAt.get(conversationKey(key)) ?? 0) <= sinceMs,
    );
    const { now = Date.now } = this.#deps;
    for (const key of due) this.#resumedAt.set(conversationKey(key), now());
    return due;
  }

  async #all<Key extends ConversationKey>(
    keys: readonly Key[],
    {
      requestOf,
      isStopping,
    }: {
      readonly requestOf: (key: Key) => Parameters<Delete>[1];
      readonly isStopping: () => boolean;
    },
  ): Promise<{ readonly done: number; readonly failed: number }> {
    let [done, failed] = [0, 0];
    const work = async (one: Key): Promise<void> => {
      if (isStopping()) return;
      const { tenant, conversationId } = one;
      try {
        if ((await this.#deps.delete({ tenant, conversationId }, requestOf(one))) !== undefined)
          done += 1;
      } catch (error) {
        failed += 1;
        const reason = error instanceof Error ? error.message : String(error);
        (this.#deps.logger ?? SILENT).warn(
          `${conversationKey(one)} could not be deleted, and is tried again: ${reason}`,
          { conversation: conversationKey(one) },
        );
      }
    };
    await Promise.all(keys.map((one) => this.#limited(() => work(one))));
    return { done, failed };
  }
}

/** Deletes by a Temporal client, as the actor `system`. */
export function createHousekeeping(
  deps: {
    readonly client: Client;
    readonly opened: Pick<OpenLog, 'log' | 'blobs' | 'live'>;
    readonly taskQueue: string;
  } & Pick<HousekeepingDeps, 'logger' | 'closedAfterMs' | 'now' | 'resumeAfterMs'>,
): Housekeeping {
  const { client, opened, taskQueue, ...rest } = deps;
  const parts = {
    gateway: new TemporalGateway({ temporal: client, taskQueue, searchAttributes: true }),
    executions: new Executions(client),
    schedules: new TriggerSchedules(client),
    whatIfs: new WhatIfRuns(client),
    deletions: createDeletions(opened),
    actor: SYSTEM_ACTOR,
  };
  return new Housekeeping({
    ...rest,
    log: opened.log,
    delete: (key, request) => deleteConversation(parts, key, request),
  });
}

/**
 * Deletes conversations, for good. In this order, so that a repeat finishes the deletion of a killed process:
 *
 * D1  The tombstone: rows are removed, readers find nothing, and late events of the runs are refused. Where those of
 * its sub-agents are deleted too, the tombstone says so, and each of them gets its own.
 * D2  The current run is asked to close, which ends its open calls; it is terminated if no worker closes it.
 * D3  The triggers are removed, and Temporal is asked to remove the histories of all runs, theirs and those of what-ifs
 * included. It does so in the background, within a minute, and forgets some requests for runs that have only just ended;
 * and a run of a trigger, or a what-if, that has only just begun is not listed yet. So workers repeat this once a minute,
 * and mark the tombstone, which hides the histories, as finished when the server has nothing left to remove.
 * D4  The same for its sub-agents, those included that it started until its run had ended.
 *
 * Only the runs that existed at D1, and those that they rolled over to, are deleted: a conversation that begins
 * meanwhile under the same id is another one.
 */
import { WorkflowNotFoundError } from '@temporalio/client';
import type { StampedActor } from '../../protocol/values/actors.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { ConversationError } from '../api/errors.js';
import type { DeleteOutcome } from '../api/types.js';
import type { DeletionsPort, StoredAt } from '../ports/deletions.js';
import type { Execution, Executions } from '../temporal/executions.js';
import type { TemporalGateway } from '../temporal/temporal-gateway.js';
import { pauseFor } from '../temporal/waiting.js';
import type { TriggerSchedules } from '../triggers/schedules.js';
import type { WhatIfRuns } from '../what-ifs/runs.js';

export interface DeleteParts {
  readonly gateway: Pick<TemporalGateway, 'confirm' | 'toConversationError'>;
  readonly executions: Executions;
  readonly schedules: Pick<TriggerSchedules, 'removeAll'>;
  readonly whatIfs: Pick<WhatIfRuns, 'removeAll'>;
  readonly deletions: DeletionsPort;
  readonly actor: StampedActor;
  /** Gets each conversation that was deleted. */
  readonly forget?: (key: ConversationKey) => void;
}

/** A run that closes flushes its log, and ends its open calls; one that takes longer than this is terminated. */
const CLOSE_PATIENCE_MS = 10_000;
const PAUSE_MS = 50;

export interface DeleteRequest {
  /** Deletes those of its sub-agents, at any depth, as well. */
  readonly withSubAgents?: true;
  /** Deletes only while this is the stored state, and no run is current: for deletions by age. */
  readonly onlyClosedAt?: StoredAt;
  /** Runs of a deletion that was begun and not finished: only these are deleted, and those that they rolled over to. */
  readonly resumes?: readonly string[];
}

/**
 * Undefined when the conversation has changed (`onlyClosedAt`). Safe to repeat.
 * @throws {ConversationError} unknown_conversation when neither Temporal nor the store has it (any more);
 *   temporal_unreachable, store_unavailable: repeat it, or leave it to the workers, which continue it
 */
export async function deleteConversation(
  parts: DeleteParts,
  key: ConversationKey,
  request: DeleteRequest = {},
): Promise<DeleteOutcome | undefined> {
  try {
    return await deleteParts(parts, key, request);
  } catch (error) {
    throw parts.gateway.toConversationError(error);
  }
}

async function deleteParts(
  parts: DeleteParts,
  key: ConversationKey,
  request: DeleteRequest,
): Promise<DeleteOutcome | undefined> {
  const { deletions, executions } = parts;
  const { tenant, conversationId } = key;
  const meant = await begun(parts, key, request);
  if (meant === undefined) return undefined;
  const below = await belowOf(parts, key, meant);
  for (const child of below) await begun(parts, child, {});
  await endCurrent(parts, key, meant);
  // Includes runs that the current run rolled over to while it was asked to close.
  const runIds = meant.add(meant.of(await executions.all(key)));
  const resumed = request.resumes !== undefined;
  await deletions.extend({ tenant, conversationId, runIds, resumed });
  // Only now, because a turn of the current run might have made more of them. Those of another conversation that has
  // begun under the id since are its own.
  const isOwn = request.resumes === undefined || (await deletions.isDeleted(key));
  let hadAny = isOwn && (await removeRuns(parts, key));
  for (const runId of runIds) hadAny = (await executions.remove(key, runId)) || hadAny;
  for (const child of [...below, ...(await belowOf(parts, key, meant))]) {
    // A worker goes on with them in later passes, each of which is bounded: their tombstones are not finished.
    if (request.resumes === undefined) await deleteParts(parts, child, {});
    else await begun(parts, child, {});
    hadAny = true;
  }
  parts.forget?.(key);
  if (request.resumes !== undefined && !hadAny)
    await deletions.finish({ tenant, conversationId, runIds });
  return { deleted: true, conversationId };
}

/** The sub-agents to delete; none once another conversation has begun under the id, because they may be its own. */
async function belowOf(
  { deletions, executions }: DeleteParts,
  key: ConversationKey,
  meant: Meant,
): Promise<readonly ConversationKey[]> {
  const below = await deletions.below(key);
  if (below.length === 0 || !(await deletions.isDeleted(key))) return [];
  const newest = await executions.newest(key);
  return newest === undefined || meant.of([newest]).length > 0 ? below : [];
}

/** Removes triggers and what-ifs of a conversation, or of a tenant. False when the server had none. */
async function removeRuns(
  { schedules, whatIfs }: DeleteParts,
  of: Parameters<TriggerSchedules['removeAll']>[0],
): Promise<boolean> {
  const hadTriggers = await schedules.removeAll(of);
  return (await whatIfs.removeAll(of)) || hadTriggers;
}

/** D1. Undefined when the stored state has changed. */
async function begun(
  { deletions, executions }: DeleteParts,
  key: ConversationKey,
  { onlyClosedAt, resumes, withSubAgents }: DeleteRequest,
): Promise<Meant | undefined> {
  const { tenant, conversationId } = key;
  const runs = await executions.all(key);
  if (resumes !== undefined)
    return new Meant(
      runs.filter(({ runId }) => resumes.includes(runId)),
      resumes,
    );
  if (onlyClosedAt !== undefined && runs.some(({ isRunning }) => isRunning)) return undefined;
  if (runs.length === 0 && !(await deletions.isKnown(key)))
    throw new ConversationError('unknown_conversation', `No conversation "${conversationId}"`);
  const runIds = await deletions.begin({
    tenant,
    conversationId,
    runIds: runs.map(({ runId }) => runId),
    ...(onlyClosedAt === undefined ? {} : { unlessMoved: onlyClosedAt }),
    ...(withSubAgents === undefined ? {} : { withSubAgents }),
  });
  return runIds === undefined ? undefined : new Meant(runs, runIds);
}

/** Selects the runs to delete: by their id, or by the chain that they belong to. */
class Meant {
  readonly #runIds: Set<string>;
  readonly #chains: ReadonlySet<string>;

  constructor(runs: readonly Execution[], runIds: readonly string[]) {
    this.#runIds = new Set(runIds);
    this.#chains = new Set(runs.map(({ firstRunId }) => firstRunId));
  }

  /** All run ids, including these. */
  add(runs: readonly Execution[]): readonly string[] {
    for (const { runId } of runs) this.#runIds.add(runId);
    return [...this.#runIds];
  }

  of(runs: readonly Execution[]): readonly Execution[] {
    return runs.filter(
      ({ runId, firstRunId }) => this.#runIds.has(runId) || this.#chains.has(firstRunId),
    );
  }
}

async function endCurrent(parts: DeleteParts, key: ConversationKey, meant: Meant): Promise<void> {
  const { gateway, executions, actor } = parts;
  const running = async (): Promise<Execution | undefined> => {
    const newest = await executions.newest(key);
    return newest?.isRunning === true ? meant.of([newest])[0] : undefined;
  };
  const current = await running();
  if (current === undefined) return;
  const { firstRunId } = current;
  try {
    const closing = await gateway.confirm(() => executions.close(key, { firstRunId, actor }));
    const hasEnded = async (): Promise<boolean> => (await running()) === undefined;
    if (closing.confirmed && (await waitUntil(CLOSE_PATIENCE_MS, hasEnded))) return;
  } catch (error) {
    // The run ended by itself. One that refuses to close is terminated nevertheless.
    if (error instanceof WorkflowNotFoundError) return;
  }
  await executions.terminate(key, firstRunId);
}

async function waitUntil(patienceMs: number, holds: () => Promise<boolean>): Promise<boolean> {
  const giveUpAt = Date.now() + patienceMs;
  for (;;) {
    if (await holds()) return true;
    if (Date.now() >= giveUpAt) return false;
    await pauseFor(PAUSE_MS);
  }
}

const AT_ONCE = 8;

/**
 * Deletes all data of a tenant in the store and in Temporal; resolves to the number of conversations. A repeat
 * finishes. `onDeleted` gets the number so far. @throws {ConversationError}
 */
export async function deleteTenant(
  parts: DeleteParts,
  tenant: string,
  { onDeleted }: { readonly onDeleted?: ((deleted: number) => void) | undefined } = {},
): Promise<{ readonly deleted: number }> {
  const { deletions } = parts;
  let deleted = 0;
  const seen = new Set<string>();
  const work = async (key: ConversationKey, isCounted: () => Promise<boolean>): Promise<void> => {
    const counts = await isCounted();
    const outcome = await deleteConversation(parts, key).catch(unlessUnknown);
    if (outcome === undefined || !counts) return;
    deleted += 1;
    onDeleted?.(deleted);
  };
  const all = async (
    keys: AsyncIterable<ConversationKey>,
    isCounted: (key: ConversationKey) => Promise<boolean>,
  ): Promise<void> => {
    let chunk: Promise<void>[] = [];
    for await (const key of keys) {
      if (seen.has(key.conversationId)) continue;
      seen.add(key.conversationId);
      if (chunk.push(work(key, () => isCounted(key))) < AT_ONCE) continue;
      await Promise.all(chunk);
      chunk = [];
    }
    await Promise.all(chunk);
  };
  try {
    await deletions.removeOfTenant(tenant);
    // A deletion that is not finished has been counted before.
    await all(deletions.ofTenant(tenant), async (key) => !(await deletions.isDeleted(key)));
    await all(leftOf(parts, tenant), () => Promise.resolve(true));
  } catch (error) {
    throw parts.gateway.toConversationError(error);
  }
  try {
    // Triggers and what-ifs whose conversation was deleted while the server did not list them yet.
    await removeRuns(parts, { tenant });
    // Workers keep definitions of agents until the last model call has ended.
    await deletions.removeOfTenant(tenant);
  } catch (error) {
    throw parts.gateway.toConversationError(error);
  }
  return { deleted };
}

/** Conversations of a tenant in Temporal, without those that it has been asked to remove already. */
async function* leftOf(
  { deletions, executions }: DeleteParts,
  tenant: string,
): AsyncGenerator<ConversationKey> {
  for await (const key of executions.ofTenant(tenant)) {
    const newest = await executions.newest(key);
    if (newest === undefined) continue;
    if (newest.isRunning || !(await deletions.isDeletedRun(key, newest.runId))) yield key;
  }
}

/** The list may be outdated: the conversation may be deleted by now. */
function unlessUnknown(error: unknown): undefined {
  if (ConversationError.isInstance(error) && error.code === 'unknown_conversation')
    return undefined;
  throw error;
}

/**
 * Deleting conversations, for good. In this order, so that a repeat finishes what a killed process has begun:
 *
 * D1  The tombstone: rows go, readers find nothing, and what the runs say late is refused.
 * D2  The run that is current is asked to close, which ends what is open; terminated, where no worker closes it.
 * D3  Temporal is asked to remove the histories of all runs. It does so in the background, within moments or a minute; once it
 *     has taken every request, the tombstone is marked as finished, and stands before what is left until then.
 *
 * Only the runs that were there at D1, and those that they rolled over to, are touched: a conversation that begins meanwhile
 * under the same id is another one.
 */
import { WorkflowNotFoundError } from '@temporalio/client';
import type { StampedActor } from '../../protocol/values/actors.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { EngineError } from '../api/errors.js';
import type { DeleteOutcome } from '../api/types.js';
import type { DeletionsPort, StoredAt } from '../ports/deletions.js';
import type { Execution, Executions } from '../temporal/executions.js';
import type { Door } from '../temporal/temporal-gateway.js';
import { pauseFor } from '../temporal/waiting.js';

export interface DeleteParts {
  readonly door: Pick<Door, 'confirm' | 'toEngineError'>;
  readonly executions: Executions;
  readonly deletions: DeletionsPort;
  readonly actor: StampedActor;
}

/** A run that closes flushes its log, and ends what it waits for; one that takes longer is terminated. */
const CLOSE_PATIENCE_MS = 10_000;
const PAUSE_MS = 50;

export interface DeleteRequest {
  /** Only while this is what is stored, and no run is current: for what deletes by the clock. */
  readonly onlyClosedAt?: StoredAt;
  /** Runs of a deletion that was begun and not finished: only they are to go, and what they rolled over to. */
  readonly resumes?: readonly string[];
}

/**
 * Undefined when it was not meant any more (`onlyClosedAt`). Safe to repeat.
 * @throws {EngineError} unknown_conversation when neither Temporal nor the store has ever heard of it (or long ago);
 *   temporal_unreachable, store_unavailable: repeat it, or leave it to the workers, which go on with it
 */
export async function deleteConversation(
  parts: DeleteParts,
  key: ConversationKey,
  request: DeleteRequest = {},
): Promise<DeleteOutcome | undefined> {
  try {
    return await deleteParts(parts, key, request);
  } catch (error) {
    throw parts.door.toEngineError(error);
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
  await endCurrent(parts, key, meant);
  // What the current run rolled over to while it was asked to close belongs to it.
  const runIds = meant.add(meant.of(await executions.all(key)));
  await deletions.extend({ tenant, conversationId, runIds });
  for (const runId of runIds) await executions.remove(key, runId);
  await deletions.finish(key);
  return { deleted: true, conversationId };
}

/** D1. Undefined when it is not meant any more. */
async function begun(
  { deletions, executions }: DeleteParts,
  key: ConversationKey,
  { onlyClosedAt, resumes }: DeleteRequest,
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
    throw new EngineError('unknown_conversation', `No conversation "${conversationId}"`);
  const runIds = await deletions.begin({
    tenant,
    conversationId,
    runIds: runs.map(({ runId }) => runId),
    ...(onlyClosedAt === undefined ? {} : { unlessMoved: onlyClosedAt }),
  });
  return runIds === undefined ? undefined : new Meant(runs, runIds);
}

/** Which runs are to go: by their id, or by the chain that they belong to. */
class Meant {
  readonly #runIds: Set<string>;
  readonly #chains: ReadonlySet<string>;

  constructor(runs: readonly Execution[], runIds: readonly string[]) {
    this.#runIds = new Set(runIds);
    this.#chains = new Set(runs.map(({ firstRunId }) => firstRunId));
  }

  /** All of them, with these. */
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
  const { door, executions, actor } = parts;
  const running = async (): Promise<Execution | undefined> => {
    const newest = await executions.newest(key);
    return newest?.isRunning === true ? meant.of([newest])[0] : undefined;
  };
  const current = await running();
  if (current === undefined) return;
  const { firstRunId } = current;
  try {
    const closing = await door.confirm(() => executions.close(key, { firstRunId, actor }));
    const hasEnded = async (): Promise<boolean> => (await running()) === undefined;
    if (closing.confirmed && (await waitUntil(CLOSE_PATIENCE_MS, hasEnded))) return;
  } catch (error) {
    // It ended by itself; a run that refuses to close is ended all the same.
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

/** Deletes whatever the store and Temporal have of a tenant; how many conversations. A repeat finishes. @throws {EngineError} */
export async function deleteTenant(
  parts: DeleteParts,
  tenant: string,
): Promise<{ readonly deleted: number }> {
  const { deletions } = parts;
  let deleted = 0;
  const seen = new Set<string>();
  const work = async (key: ConversationKey): Promise<void> => {
    const outcome = await deleteConversation(parts, key).catch(unlessUnknown);
    if (outcome !== undefined) deleted += 1;
  };
  for (const keys of [deletions.ofTenant(tenant), leftOf(parts, tenant)]) {
    try {
      let chunk: ConversationKey[] = [];
      for await (const key of keys) {
        if (seen.has(key.conversationId)) continue;
        seen.add(key.conversationId);
        if (chunk.push(key) < AT_ONCE) continue;
        await Promise.all(chunk.map(work));
        chunk = [];
      }
      await Promise.all(chunk.map(work));
    } catch (error) {
      throw parts.door.toEngineError(error);
    }
  }
  return { deleted };
}

/** What Temporal has of a tenant, without what it has been asked to remove already. */
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

/** The list may be older than what has become of it. */
function unlessUnknown(error: unknown): undefined {
  if (EngineError.isInstance(error) && error.code === 'unknown_conversation') return undefined;
  throw error;
}

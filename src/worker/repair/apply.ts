/**
 * Carries out a repair. The content of the discarded history is sent to the stuck run as a signal, where it is recorded
 * and no task reads it; then the run is reset, and the server reapplies the signal before the first task of the new
 * run. So nothing is scheduled before the new run knows that content, and a process that dies between the two steps has
 * changed nothing: the stuck run itself ignores the signal.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { resetRun } from '../../client/trouble/reset.js';
import type { HistoryEvent } from '../../projection/source/history-tail.js';
import { type ConversationKey, workflowIdFor } from '../../protocol/values/ids.js';
import { utf8Bytes } from '../../protocol/values/json.js';
import { SIGNALS } from '../../protocol/workflow/messaging.js';
import {
  MAX_RECOVER_BYTES,
  type RecoveredEntry,
  type RecoverInput,
} from '../../protocol/workflow/recovery.js';
import { recoverPartOf } from './earlier.js';
import { signalIn } from './history.js';
import { isOutdated, planRepair, type RepairDeps, type RepairPlan } from './plan.js';

/** Number of plans for a run that moves on while it is repaired. */
const TRIES = 5;
/** Signals wait for the end of a task attempt that is in progress: as long as the timeout of a task. */
const RECORDED_MS = 60_000;
const POLL_MS = 50;

export type RepairOutcome =
  | Exclude<RepairPlan, { status: 'reset' }>
  | (Extract<RepairPlan, { status: 'reset' }> & { readonly newRunId: string });

/** @throws {Error} when the run keeps moving; errors of the server or the store */
export async function applyRepair(deps: RepairDeps, key: ConversationKey): Promise<RepairOutcome> {
  for (let tried = 1; tried <= TRIES; tried += 1) {
    const plan = await planRepair(deps, key);
    if (plan.status !== 'reset') return plan;
    const parts = partsOf(plan);
    await send(deps, key, { plan, parts });
    const { events, own } = await recorded(deps, key, { plan, parts });
    if (isOutdated(plan, events, own)) continue;
    const { runId, resetToId: eventId, error } = plan;
    const reason = `colloquy repair: ${error}`;
    const workflowId = workflowIdFor(key);
    const newRunId = await resetRun(deps.temporal, { workflowId, runId, eventId, reason });
    return { ...plan, newRunId };
  }
  throw new Error(`The run kept moving while it was repaired, ${TRIES} times; nothing was reset`);
}

/** Splits the entries into as many signals as their size requires. */
export function partsOf({
  entries,
}: Pick<Extract<RepairPlan, { status: 'reset' }>, 'entries'>): readonly RecoverInput[] {
  const chunks: RecoveredEntry[][] = [[]];
  let bytes = 0;
  for (const entry of entries) {
    const size = utf8Bytes(JSON.stringify(entry));
    if (bytes > 0 && bytes + size > MAX_RECOVER_BYTES) {
      chunks.push([]);
      bytes = 0;
    }
    chunks.at(-1)?.push(entry);
    bytes += size;
  }
  const recoveryId = randomUUID();
  return chunks.map((chunk, index) => ({
    recoveryId,
    part: index + 1,
    parts: chunks.length,
    entries: chunk,
  }));
}

async function send(
  { temporal }: RepairDeps,
  key: ConversationKey,
  { plan, parts }: Sent,
): Promise<void> {
  for (const part of parts)
    await temporal.workflow.getHandle(workflowIdFor(key), plan.runId).signal(SIGNALS.recover, part);
}

interface Sent {
  readonly plan: Extract<RepairPlan, { status: 'reset' }>;
  readonly parts: readonly RecoverInput[];
}

interface Recorded {
  readonly events: readonly HistoryEvent[];
  /** Ids of the signals that carry the parts. */
  readonly own: ReadonlySet<number>;
}

/** Polls until the history has all parts, and returns it: only recorded signals are reapplied. */
async function recorded(
  { temporal }: RepairDeps,
  key: ConversationKey,
  { plan, parts }: Sent,
): Promise<Recorded> {
  const recoveryId = parts[0]?.recoveryId;
  const deadline = Date.now() + RECORDED_MS;
  for (;;) {
    const { events } = await temporal.workflow
      .getHandle(workflowIdFor(key), plan.runId)
      .fetchHistory();
    const own = new Set<number>();
    for (const event of events ?? []) {
      const signal = signalIn(event);
      if (signal === undefined || signal.id <= plan.historyLength) continue;
      const part = await recoverPartOf(signal, temporal.options.loadedDataConverter);
      if (part?.recoveryId === recoveryId) own.add(signal.id);
    }
    if (own.size >= parts.length) return { events: events ?? [], own };
    if (Date.now() > deadline)
      throw new Error('The server did not record the recovery in a minute; nothing was reset');
    await sleep(POLL_MS);
  }
}

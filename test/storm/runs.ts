/**
 * Temporal's records of the conversations of a storm: tasks that failed, and histories that are replayed with a cold
 * cache.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { OpenLog } from 'colloquy/log';
import type { World } from '../e2e/support/world.js';
import { EngineHistory } from '../support/engine/history.js';
import { replay } from '../support/engine/replay.js';
import { bundleFromSource } from '../support/engine/workflow-bundle.js';
import type { Findings } from './report.js';

/** More attempts than this at one task count as a finding. */
const MOST_ATTEMPTS = 3;
const HISTORIES_AT_ONCE = 4;

interface Means {
  readonly world: World;
  readonly opened: OpenLog;
  readonly findings: Findings;
  /** Folder for histories that cannot be replayed. */
  readonly keep?: string | undefined;
}

/** The reason why a conversation did not come to rest, with the failure of its workflow task. */
export async function whyStuck(world: World, workflowId: string, error: unknown): Promise<string> {
  const history = new EngineHistory(world.temporal);
  const look = async (): Promise<string> => {
    const { runId, raw } = await history.describe(workflowId);
    const attempt = raw.pendingWorkflowTask?.attempt ?? 0;
    const failed = await history.failedTasks(workflowId, runId);
    const activities = (raw.pendingActivities ?? []).map(
      ({ activityId, attempt: at, state, lastFailure }) =>
        `${activityId ?? ''} attempt ${at ?? 0} state ${state ?? 0} ${lastFailure?.message ?? ''}`,
    );
    return `task attempt ${attempt}, failed: ${failed.at(-1) ?? 'none'}, under way: ${activities.join(', ')}`;
  };
  const seen = await look().catch(String);
  return `${workflowId}: ${error instanceof Error ? error.message : String(error)} [${seen}]`;
}

/** Checks every run of these conversations. Returns how many there are. */
export async function checkRuns(
  { world, opened, findings, keep }: Means,
  workflowIds: readonly string[],
): Promise<number> {
  const history = new EngineHistory(world.temporal);
  const bundle = { code: await bundleFromSource() };
  let runs = 0;
  const check = async (workflowId: string): Promise<void> => {
    const { raw } = await history.describe(workflowId);
    const attempt = raw.pendingWorkflowTask?.attempt ?? 0;
    if (attempt > MOST_ATTEMPTS) findings.stuck.push(`${workflowId}: task attempt ${attempt}`);
    const conversationId = workflowId.split(':').at(-1) ?? '';
    const head = await opened.log.head({ tenant: 'default', conversationId });
    if (head?.generation !== 1)
      findings.rewritten.push(`${workflowId}: generation ${String(head?.generation)}`);
    for (const runId of await history.runs(workflowId)) {
      runs += 1;
      for (const failed of await history.failedTasks(workflowId, runId))
        findings.unreplayable.push(`${workflowId} ${runId}: a task failed: ${failed}`);
      const recorded = await world.temporal.workflow.getHandle(workflowId, runId).fetchHistory();
      // A worker of its own for each: none has the run in memory.
      await replay(bundle, recorded).catch(async (error: unknown) => {
        findings.unreplayable.push(`${workflowId} ${runId}: ${String(error)}`);
        if (keep === undefined) return;
        await mkdir(keep, { recursive: true });
        await writeFile(join(keep, `${runId}.json`), JSON.stringify(historyToJSON(recorded)));
      });
    }
  };
  const left = [...workflowIds];
  const work = async (): Promise<void> => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) await check(next);
  };
  await Promise.all(Array.from({ length: HISTORIES_AT_ONCE }, work));
  return runs;
}

/** Replays whole histories with the workflow code of this package: those of a conversation, or recorded ones. */
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { HistoryEvent } from '../../projection/source/history-tail.js';
import { type ConversationKey, workflowIdFor } from '../../protocol/values/ids.js';
import { doneTasks, idOf, withoutPassing } from './history.js';
import { firstRefused, type ReplayOptions } from './replay.js';

export type ReplayedRun =
  | { readonly status: 'replays'; readonly events: number }
  | {
      readonly status: 'fails';
      readonly events: number;
      /** Id of the completion of the first task whose decisions this code does not make. */
      readonly at: number;
      /** How many events before it replay. */
      readonly replayed: number;
      readonly error: string;
    };

/** Cold: nothing of the run is in memory before. Each history gets a worker of its own. Changes nothing. */
export async function replayRun(
  history: readonly HistoryEvent[],
  options: ReplayOptions,
): Promise<ReplayedRun> {
  const events = withoutPassing(history);
  const tasks = doneTasks(events);
  const refused = await firstRefused(events, tasks, options);
  if (refused === undefined) return { status: 'replays', events: history.length };
  const { place, error } = refused;
  const at = tasks[place]?.completedId ?? 0;
  const started = tasks[place]?.startedId ?? at;
  const replayed = events.filter((event) => idOf(event) < started).length;
  return { status: 'fails', events: history.length, at, replayed, error };
}

export interface RunHistory {
  readonly runId: string;
  readonly events: readonly HistoryEvent[];
}

/**
 * The histories of a conversation, newest run first, along the chain of its roll-overs, as far as the server has them.
 * Empty when it has none.
 */
export async function* runsOf(
  temporal: Client,
  key: ConversationKey,
): AsyncGenerator<RunHistory, void> {
  const workflowId = workflowIdFor(key);
  const newest = await found(temporal.workflow.getHandle(workflowId).describe());
  let runId = newest?.runId;
  while (runId !== undefined && runId !== '') {
    const history = await found(temporal.workflow.getHandle(workflowId, runId).fetchHistory());
    if (history === undefined) return;
    const events = history.events ?? [];
    yield { runId, events };
    const started = events[0]?.workflowExecutionStartedEventAttributes;
    runId = started?.continuedExecutionRunId ?? undefined;
  }
}

/** Undefined for what the server does not have. */
async function found<Value>(asked: Promise<Value>): Promise<Value | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

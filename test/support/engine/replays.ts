/** Replays the histories that a test has made of a conversation. */
import { expect, inject } from 'vitest';
import type { Conversation } from '../../../src/client/index.js';
import type { Engine } from './engine.js';
import { replayAll } from './replay.js';

/** Throws unless every task of every run of the chain succeeded and the code makes the same decisions again. */
export async function replays(engine: Engine, talk: Conversation): Promise<void> {
  const workflowId = engine.workflowId(talk);
  const histories: { workflowId: string; history: unknown }[] = [];
  for (const runId of await engine.history.runs(workflowId)) {
    expect(await engine.history.failedTasks(workflowId, runId)).toEqual([]);
    const history = await engine.temporal.workflow.getHandle(workflowId, runId).fetchHistory();
    histories.push({ workflowId, history });
  }
  await replayAll({ codePath: inject('workflowBundlePath') }, histories);
}

/** Replays the histories that a test has made of a conversation. */
import { expect, inject } from 'vitest';
import type { Conversation } from '../../../src/client/index.js';
import type { Engine } from './engine.js';
import { replay } from './replay.js';

/** Throws unless every task of every run of the chain succeeded and the code makes the same decisions again. */
export async function replays(engine: Engine, talk: Conversation): Promise<void> {
  const id = engine.workflowId(talk);
  for (const runId of await engine.history.runs(id)) {
    expect(await engine.history.failedTasks(id, runId)).toEqual([]);
    const history = await engine.temporal.workflow.getHandle(id, runId).fetchHistory();
    await replay({ codePath: inject('workflowBundlePath') }, history);
  }
}

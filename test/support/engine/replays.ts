/** What a test did to a conversation, replayed. */
import { expect, inject } from 'vitest';
import type { Conversation } from '../../../src/client/index.js';
import type { Engine } from './engine.js';
import { replay } from './replay.js';

/** No task of any run of the chain failed, and the code decides the same again. */
export async function replays(engine: Engine, talk: Conversation): Promise<void> {
  const id = engine.workflowId(talk);
  for (const runId of await engine.history.runs(id)) {
    expect(await engine.history.failedTasks(id, runId)).toEqual([]);
    const history = await engine.temporal.workflow.getHandle(id, runId).fetchHistory();
    await replay({ codePath: inject('workflowBundlePath') }, history);
  }
}

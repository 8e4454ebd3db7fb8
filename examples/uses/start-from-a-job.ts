/**
 * A job of your backend starts a conversation and waits a while for its result. A second run, after a crash or by its
 * scheduler, sends nothing twice: it finds the same turn and its present state.
 *
 *   npm start                                           in another terminal
 *   node dist/examples/uses/start-from-a-job.js job-7 42
 */
import type { ConversationClient, TurnResult } from 'colloquy/client';
import { openColloquy } from 'colloquy/engine';

// #region job
async function runJob(client: ConversationClient, id: string, order: string): Promise<TurnResult> {
  const conversation = client.conversation(`order-${order}`, { agent: 'support' });
  // The job's own id names the message: a repeat after a crash is the same message and the same turn.
  const turn = await conversation.send(
    'My order arrived broken: please refund 75.00 for payment p_1.',
    { requestId: id },
  );
  const result = await turn.result({ timeout: '20s' });
  // No worker has taken the message yet. It is durable, so the job can simply return later.
  if (result.status === 'queued') throw new Error('still queued');
  return result;
}
// #endregion job

const [, , id = 'job-7', order = '42'] = process.argv;
// #region client
const fail = (error: unknown): never => {
  console.error((error as Error).message);
  process.exit(1);
};
// The store is that of the workers: it has the agents that they serve, and every turn, however long ago it ended.
const colloquy = await openColloquy({
  store:
    process.env['COLLOQUY_DATABASE_URL'] ?? `${process.env['COLLOQUY_DATA'] ?? '.colloquy'}/log.db`,
  actor: { id: 'nightly-job' },
}).catch(fail);
// #endregion client
const result = await runJob(colloquy.client, id, order).catch(fail);
switch (result.status) {
  case 'completed':
    console.log(`${result.turnId} completed: ${result.text}`);
    break;
  case 'waiting':
    console.log(`${result.turnId} waits for:`);
    for (const { name, kind, ref } of result.pending)
      console.log(`  ${kind} of ${name}  ref ${ref}`);
    break;
  case 'failed':
    console.log(`${result.turnId} failed: ${result.error.message}`);
    break;
  case 'cancelled':
  case 'timeout':
    console.log(`${result.turnId} ${result.status}`);
    break;
}
await colloquy.close();

/** A script that sends a message, approves the waiting call, and prints the answer. */
import { openColloquy } from 'colloquy/engine';

const options = { store: '.colloquy/log.db', actor: { id: 'ada' } };
const colloquy = await openColloquy(options).catch((error: unknown) => {
  console.error((error as Error).message);
  process.exit(1);
});
const conversation = colloquy.client.conversation('order-42', { agent: 'support' });
const turn = await conversation.send('My order arrived broken.', { requestId: 'job-7' });
const result = await turn.result({ timeout: '1 minute' });
if (result.status === 'waiting')
  for (const call of result.pending) {
    console.log(`${call.name} waits for an ${call.kind}`);
    const verdict = await colloquy.client.resolve(call, { type: 'approve' });
    console.log(`the approval is ${verdict.verdict}`);
  }
const answer = await turn.result({ timeout: '1 minute', returnWhenWaiting: false });
if (answer.status === 'completed') console.log(answer.text);
await colloquy.close();

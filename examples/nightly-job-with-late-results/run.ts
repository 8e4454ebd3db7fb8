/** A nightly job orders two exports and ends. One comes in time, the other hours after its deadline. */
import { equal } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Conversation } from 'colloquy/client';
import { eventually, runExample } from '../support/run-example.js';
import { reporter } from './agents.js';

await runExample({ agents: [reporter], services: {} }, async ({ client, idOf, note }) => {
  const conversation = client.conversation(idOf('night-2026-11-25'), { agent: reporter });

  // The job: what it sends has its own id, so that a second run of the job finds the turn of the first.
  const job = async () => {
    const turn = await conversation.send('Order the exports.', { requestId: 'nightly' });
    const ended = await turn.result({ timeout: '1 minute' });
    equal(ended.status, 'completed');
    return ended;
  };
  const first = await job();
  note(`the job ends with: ${first.text}`);
  equal((await job()).turnId, first.turnId);

  // The exports are open, though no turn waits for them.
  const [north, south] = await conversation.pending();
  if (north === undefined || south === undefined) throw new Error('two exports should be open');
  const result = (rows: number) => ({ type: 'result', value: { rows } }) as const;
  const inTime = await client.resolve(north.ref, result(1_200));
  note(`the export of the north: ${inTime.verdict}`);
  equal(inTime.verdict, 'accepted');
  await says(conversation, 'There is an export: 1200 rows.', note);

  await sleep(Math.max(0, Date.parse(south.deadline) - Date.now()));
  await says(conversation, 'An export did not come in time.', note);
  const late = await client.resolve(south.ref, result(300), { requestId: 'export-south' });
  note(`the export of the south: ${late.verdict}`);
  equal(late.verdict, 'accepted_late');
  equal(
    (await client.resolve(south.ref, result(300), { requestId: 'export-south' })).verdict,
    'duplicate',
  );
  await says(conversation, 'There is an export: 300 rows.', note);
});

/** Waits until the agent has said this in a turn of its own, which the result began. */
async function says(
  conversation: Conversation,
  text: string,
  note: (text: string) => void,
): Promise<void> {
  await eventually(`the agent says "${text}"`, async () => {
    const { events } = await conversation.events();
    return events.find(
      (event) =>
        event.type === 'assistant_message' &&
        event.parts.some((part) => part.type === 'text' && part.text === text),
    );
  });
  note(`the agent says: ${text}`);
}

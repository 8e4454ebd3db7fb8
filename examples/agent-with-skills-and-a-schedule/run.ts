/** An agent activates a skill, makes a trigger for itself, and works when the trigger comes. */
import { equal } from 'node:assert/strict';
import { eventually, runExample } from '../support/run-example.js';
import { clerk } from './agents.js';

await runExample({ agents: [clerk], services: {} }, async ({ client, idOf, note }) => {
  const conversation = client.conversation(idOf('books'), { agent: clerk });
  const turn = await conversation.send('Remind me of unpaid invoices.');
  const ended = await turn.result({ timeout: '1 minute' });
  equal(ended.status, 'completed');
  note(`the agent says: ${ended.text}`);
  const [trigger] = await conversation.triggers().list();
  note(`its trigger comes at ${trigger?.nextAt ?? '?'}`);

  // No message is sent from here on: the trigger begins the next turn.
  const text = await eventually('the trigger comes', async () => {
    const { events } = await conversation.events();
    const at = events.findIndex(
      (event) => event.type === 'inbox_event' && event.kind === 'trigger',
    );
    const end = at < 0 ? undefined : events.slice(at).find(({ type }) => type === 'turn_ended');
    return end?.type === 'turn_ended' ? end.text : undefined;
  });
  note(`the agent says: ${text}`);
  equal(text, 'One invoice is not paid: i_7.');
});

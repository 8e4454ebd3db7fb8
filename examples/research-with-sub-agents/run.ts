/** An analyst has two other agents work at once; one of them must ask a person before it buys. */
import { deepEqual, equal } from 'node:assert/strict';
import { eventually, runExample } from '../support/run-example.js';
import { analyst } from './agents.js';

await runExample({ agents: [analyst], services: {} }, async ({ client, idOf, note }) => {
  const conversation = client.conversation(idOf('markets'), { agent: analyst });
  const turn = await conversation.send('How large is the market?');

  // The gate is one level down; it is found from the top, with the way to it.
  const gate = await eventually('the researcher asks', async () => {
    const open = await conversation.pending({ nested: true });
    return open.find(({ name }) => name === 'reports.buy');
  });
  note(
    `${gate.agent} (${gate.path.map(({ name }) => name).join(' > ')}) waits: ${gate.reason ?? ''}`,
  );
  deepEqual(gate.prompt, { title: 'Markets' });
  const { verdict } = await client.resolve(gate.ref, { type: 'approve' }, { actor: { id: 'ada' } });
  equal(verdict, 'accepted');

  const ended = await turn.result({ timeout: '1 minute', returnWhenWaiting: false });
  equal(ended.status, 'completed');
  note(`the agent says: ${ended.text}`);
  equal(ended.text, 'The report says 42; the archive has nothing.');

  // The spending of the others counts for the turn of the analyst.
  note(`tokens of all three: ${ended.usage.inputTokens} in, ${ended.usage.outputTokens} out`);
});

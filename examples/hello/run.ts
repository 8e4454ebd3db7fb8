/** A conversation with an agent that has no tools. */
import { deepEqual, equal } from 'node:assert/strict';
import { runExample } from '../support/run-example.js';
import { greeter } from './agents.js';

await runExample({ agents: [greeter], services: {} }, async ({ client, idOf, note }) => {
  const conversation = client.conversation(idOf('hello'), { agent: greeter });

  const turn = await conversation.send('Hi, I am Ann.', { requestId: 'first' });
  const answer = await turn.result({ timeout: '1 minute' });
  equal(answer.status, 'completed');
  note(`the agent says: ${answer.text}`);

  // A sender that does not know whether its message arrived sends it again: it is the same message and the same turn.
  const again = await conversation.send('Hi, I am Ann.', { requestId: 'first' });
  const same = await again.result({ timeout: '1 minute' });
  equal(same.status, 'completed');
  equal(same.turnId, answer.turnId);

  const second = await conversation.send('Hello again.');
  const next = await second.result({ timeout: '1 minute' });
  equal(next.status, 'completed');
  note(`the agent says: ${next.text}`);

  // Every turn is in the log, which is read without a worker.
  const { events } = await conversation.events();
  const turns = events.flatMap((event) => (event.type === 'turn_started' ? [event.turnId] : []));
  deepEqual(turns, [answer.turnId, next.turnId]);
  note(`the log has ${events.length} events of 2 turns`);
});

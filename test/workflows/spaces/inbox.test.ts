/** `peek_inbox` in a real worker, whose event log follows the running turn. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent, defineTool } from '../../../src/index.js';
import { calls, says, script } from '../../../src/model/scripted/scripted.js';
import { spacesPlugin } from '../../../src/spaces/index.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { opened, runs } from '../../support/started-engines/opened.js';
import { until } from '../../support/until.js';

test('an agent reads an event that comes in mid-turn, and has it once as the input of its next turn', {
  ...promise('G420', '2.H.1'),
  timeout: patient(60_000),
}, async () => {
  const colloquy = await opened({ actor: { id: 'ann' } });
  const model = script(
    calls('look', {}),
    calls('peek_inbox', {}),
    says('Looked.'),
    says('Paid, then.'),
  );
  const event = { eventId: 'in-1', kind: 'payment', payload: { order: 42 } };
  const look = defineTool({
    ...{ name: 'look', description: 'Looks', input: z.object({}) },
    run: async () => {
      await talk.sendEvent(event);
      await until('the event log has it', async () => {
        const read = await colloquy.log.read({ tenant: talk.tenant, conversationId: talk.id });
        return read?.events.some(({ type }) => type === 'inbox_event');
      });
      return 'seen';
    },
  });
  const agent = defineAgent({
    ...{ name: 'clerk', model, instructions: 'Help.', tools: [look] },
    plugins: [spacesPlugin({ peekInbox: true })],
    settings: { inbox: { whileBusy: 'next_turn' } },
  });
  await runs(colloquy, { agents: [agent], services: {} });
  const talk = colloquy.client.conversation(randomUUID(), { agent: 'clerk' });
  await talk.send('Look');
  await until('both turns have called the model', () => model.requests.length === 4);
  const results = async () => {
    const { events } = await talk.events({ before: 'end', limit: 100 });
    return events.flatMap((each) => (each.type === 'tool_result' ? [each.result.envelope] : []));
  };
  // Newest first.
  const [peeked] = await until('both results are stored', results, {
    holds: ({ length }) => length === 2,
  });
  expect(peeked).toMatchObject({
    result: { events: [{ eventId: 'in-1', type: 'payment', data: { order: 42 } }] },
  });
  const inputs = JSON.stringify(model.requests[3]?.messages).match(/\[Event: payment\]/g);
  expect(inputs).toHaveLength(1);
});

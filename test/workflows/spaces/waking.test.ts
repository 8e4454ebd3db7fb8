/** Agents of spaces end to end: a text that comes by the API wakes their conversations. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { says, script } from '../../../src/model/scripted/scripted.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { openedServer, runs } from '../../support/started-engines/opened.js';
import { until } from '../../support/until.js';

test('a text that was sent while no worker ran starts the conversation of each agent once', {
  ...promise('G367'),
  timeout: patient(60_000),
}, async () => {
  const { colloquy, request } = await openedServer();
  const agent = shop(script(says('one'), says('two'), says('three'), says('four')));
  const options = { agents: [agent], services: ledger() };
  const post = (path: string, body: object) => request<{ readonly id: string }>(path, body);
  // Publishes the agent, and ends before there is anything to do.
  const stop = await runs(colloquy, options);
  await stop();

  const space = `/v1/spaces/${(await post('/v1/spaces', { name: 'Desk' })).id}`;
  const ids = [randomUUID(), randomUUID()];
  for (const conversationId of ids)
    await post(`${space}/members`, {
      member: { kind: 'agent', conversationId, agent: agent.name },
    });
  const texts = [await post(`${space}/messages`, { text: 'Where is order 42?' })];

  await runs(colloquy, options);
  const inboxOf = async (id: string) => {
    const read = await colloquy.log.read({ tenant: 'default', conversationId: id });
    return (read?.events ?? []).filter(({ type }) => type === 'inbox_event');
  };
  const all = async (count: number): Promise<boolean> =>
    (await Promise.all(ids.map(inboxOf))).every((events) => events.length >= count);
  await until('each was woken', () => all(1));
  texts.push(await post(`${space}/messages`, { text: 'And order 43?' }));
  await until('each was woken again', () => all(2));
  for (const id of ids)
    expect(await inboxOf(id)).toMatchObject(
      texts.map((text) => ({
        eventId: `${space.replace('/v1/spaces/', 'space:')}:${text.id}`,
        kind: 'space.message',
        payload: { messageId: text.id, author: { kind: 'person', id: 'anonymous' } },
      })),
    );
});

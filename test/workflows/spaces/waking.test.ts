/** Agents of spaces end to end: a text that comes by the API wakes their conversations. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { openColloquy } from '../../../src/engine/open-colloquy.js';
import { serve } from '../../../src/http/listen.js';
import { says, script } from '../../../src/model/scripted/scripted.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { CONVERTER } from '../../support/engine/engine.js';
import { identifyAll } from '../../support/networks/test-identity.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { temporaryFolder } from '../../support/temporary.js';
import { until } from '../../support/until.js';

test('a text that was sent while no worker ran starts the conversation of each agent once', {
  ...promise('G367'),
  timeout: patient(60_000),
}, async () => {
  const colloquy = await openColloquy({
    store: join(temporaryFolder(), 'log.db'),
    temporal: { address: inject('temporalAddress') },
    taskQueue: `test-${randomUUID()}`,
  });
  const server = await serve(await colloquy.app({ identify: identifyAll }), { port: 0 });
  const agent = shop(script(says('one'), says('two'), says('three'), says('four')));
  const options = {
    agents: [agent],
    services: ledger(),
    shutdownGraceMs: 500,
    tuning: {
      workflowBundle: { codePath: inject('workflowBundlePath') },
      dataConverter: { payloadConverterPath: CONVERTER },
    },
  };
  const post = async (path: string, body: object): Promise<{ readonly id: string }> => {
    const response = await fetch(`${server.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect([response.status, response.ok]).toEqual([response.status, true]);
    return (await response.json()) as { readonly id: string };
  };
  // Publishes the agent, and ends before there is anything to do.
  const first = await colloquy.worker(options);
  const ended = first.run();
  first.shutdown();
  await ended;

  const space = `/v1/spaces/${(await post('/v1/spaces', { name: 'Desk' })).id}`;
  const ids = [randomUUID(), randomUUID()];
  for (const conversationId of ids)
    await post(`${space}/members`, {
      member: { kind: 'agent', conversationId, agent: agent.name },
    });
  const texts = [await post(`${space}/messages`, { text: 'Where is order 42?' })];

  const worker = await colloquy.worker(options);
  const running = worker.run();
  onTestFinished(async () => {
    worker.shutdown();
    await running;
    await server.close();
    await colloquy.close();
  });
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

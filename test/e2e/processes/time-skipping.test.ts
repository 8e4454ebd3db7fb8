/** A worker as applications construct it, on the time-skipping server. */
import { join } from 'node:path';
import { defineAgent, defineTool, manifestOf } from 'colloquy';
import { ConversationClient } from 'colloquy/client';
import { calls, says, script } from 'colloquy/testing';
import { createColloquyWorker } from 'colloquy/worker';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { timeSkippingEnvironment } from '../../support/histories/time-skipping.js';
import { temporaryFolder } from '../../support/temporary.js';
import { until } from '../../support/until.js';

const ask = defineTool({
  name: 'ask',
  description: 'Ask the customer.',
  executor: 'human',
  input: z.object({}),
  output: z.string(),
  timeouts: { answer: '2 days' },
});

it('skips two days in a moment, and answers queries', async () => {
  const environment = await timeSkippingEnvironment();
  onTestFinished(() => environment.teardown());
  const agent = defineAgent({
    name: 'support',
    model: script(calls('ask', {}), says('Nobody answered.')),
    instructions: 'Ask.',
    tools: [ask],
  });
  const worker = await createColloquyWorker({
    agents: [agent],
    services: {},
    eventLog: join(temporaryFolder(), 'log.db'),
    temporal: { address: environment.address, namespace: 'default', options: {} },
    searchAttributes: false,
    shutdownGraceMs: 100,
  });
  const ended = worker.run();
  onTestFinished(async () => {
    worker.shutdown();
    await ended;
  });
  const client = new ConversationClient({
    temporal: environment.client,
    agents: [manifestOf(agent)],
    searchAttributes: false,
  });
  const talk = client.conversation('c1', { agent: 'support' });
  await talk.send('hi');
  const status = async (): Promise<string> => (await talk.snapshot()).status;
  const patience = { timeoutMs: 20_000 };
  await until('it waits', status, { ...patience, holds: (seen) => seen === 'awaiting_input' });
  expect(await talk.pending()).toMatchObject([{ name: 'ask' }]);
  await environment.sleep('2 days');
  await until('it is over', status, { ...patience, holds: (seen) => seen === 'idle' });
});

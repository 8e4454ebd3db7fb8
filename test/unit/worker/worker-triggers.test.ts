/** Triggers that tools of a worker make: the time after which the conversation closes is that of its agent. */
import { expect, it } from 'vitest';
import { type AgentCatalog, defineAgent } from '../../../src/index.js';
import { scriptedBy } from '../../../src/model/scripted/scripted.js';
import { workerTriggers } from '../../../src/worker/worker-triggers.js';
import { fakeTemporal } from '../../support/fakes/fake-temporal.js';

const agent = (name: string, idleClose: '2 days' | '3 days') =>
  defineAgent({
    ...{ name, instructions: 'Help.', settings: { idleClose } },
    model: scriptedBy(() => ({ type: 'answer', text: 'Hi' })),
  });

it.each([
  ['in code', 'own', '2.0 days'],
  ['that is a document', 'stored', '3.0 days'],
])(
  'a trigger of an agent %s is judged by the settings of that agent',
  async (_of, name, closes) => {
    const catalog: AgentCatalog = {
      kind: 'agent_catalog',
      template: agent('catalog', '3 days'),
      find: () => Promise.resolve(undefined),
    };
    const { client } = fakeTemporal({
      describe: () => ({ status: { name: 'RUNNING' }, runId: 'r-1', raw: {} }),
    });
    const agents = [agent('own', '2 days')];
    const { ofCall } = workerTriggers({ client, agents, catalog, taskQueue: 'q' });
    const triggers = ofCall({
      ...{ tenant: 'default', conversationId: 'c-1', agent: name, idempotencyKey: 'k' },
      requester: { id: 'ann', verified: true, channel: 'api' },
    });
    const schedule = { type: 'interval', value: '20 days' } as const;
    const created = triggers.create({ title: 'Look', goal: 'Look.', schedule });
    await expect(created).rejects.toThrow(`closes after ${closes}`);
  },
);

import { expect, it } from 'vitest';
import { ConversationClient } from '../../../src/client/conversation-client.js';
import { defineAgent } from '../../../src/define/define-agent.js';
import { script } from '../../../src/model/scripted/scripted.js';
import { createColloquyWorker } from '../../../src/worker/create-worker.js';
import { fakeTemporal } from '../../support/fakes/fake-temporal.js';
import { promise } from '../../support/promise.js';

/** As JavaScript calls it: with any value. */
const create = createColloquyWorker as (options?: unknown) => Promise<unknown>;
const agent = defineAgent({ name: 'a', model: script(), instructions: 'x' });
const good = { agents: [agent], eventLog: ':memory:' };

it.each<[unknown, string]>([
  [undefined, 'createColloquyWorker: the options must be an object'],
  [{}, 'agents must be a list with at least one agent made by defineAgent'],
  [{ ...good, agents: [] }, 'agents must be a list with at least one agent made by defineAgent'],
  [
    { ...good, agents: [], catalog: agent },
    'catalog must be a catalog of agents, such as that of hsafaAgentCatalog',
  ],
  [
    { ...good, catalog: { kind: 'agent_catalog', template: agent } },
    'agents[0] has the name of another agent: "a"',
  ],
  [{ ...good, agents: [agent, {}] }, 'agents[1] must be an agent made by defineAgent'],
  [{ ...good, agents: [agent, agent] }, 'agents[1] has the name of another agent: "a"'],
  [
    { agents: [agent] },
    'eventLog must be a file such as ".colloquy/log.db", the address of a Postgres database, or adapters',
  ],
  [{ ...good, audit: 'all' }, 'audit must be "off", "records" or "full", got "all"'],
  [
    { ...good, health: { port: '80' } },
    'health.port must be a whole number from 0 (any free port) to 65535',
  ],
  [{ ...good, health: { port: 0, host: '' } }, 'health.host must be an address, such as "0.0.0.0"'],
  [
    { ...good, pageUrl: 'agents.example.com' },
    'pageUrl must be an address such as https://agents.example.com/ui, without a slash at its end',
  ],
  [
    { ...good, apiUrls: ['http://127.0.0.1:8080', '127.0.0.1:8080'] },
    'apiUrls must be a list of addresses such as http://127.0.0.1:8080',
  ],
  [
    { ...good, apiUrls: 'http://127.0.0.1:8080' },
    'apiUrls must be a list of addresses such as http://127.0.0.1:8080',
  ],
  [{ ...good, sdkGuards: 'on' }, 'sdkGuards must be true or false, got "on"'],
])(
  'a worker with the settings %j is refused before anything is opened',
  async (options, message) => {
    await expect(create(options)).rejects.toThrow(new TypeError(message));
  },
);

it('a client without its dependencies is refused when it is made', promise('G27'), () => {
  const make = (options?: unknown) => new ConversationClient(options as never);
  const { client: temporal } = fakeTemporal({});
  const noTemporal = 'ConversationClient: temporal must be a Client of @temporalio/client';
  for (const options of [undefined, {}, { temporal: temporal.connection, agents: [] }])
    expect(() => make(options)).toThrow(new TypeError(noTemporal));
  for (const patience of [0, 0.5, 101, Number.NaN, '2', null])
    expect(() => make({ temporal, agents: [], patience })).toThrow(
      /^ConversationClient: patience must be a number from 1 to 100, got /,
    );
  expect(() => make({ temporal })).toThrow(/^ConversationClient: agents must be a list of/);
  for (const pageUrl of [
    '',
    'agents.example.com/ui',
    'ftp://a/ui',
    'http://a/ui/',
    'http://a/)x',
    7,
  ])
    expect(() => make({ temporal, agents: [], pageUrl })).toThrow(
      /^ConversationClient: pageUrl must be an address such as /,
    );
  for (const pageUrl of [
    'http://127.0.0.1:7070/ui',
    'http://[::1]:80/ui',
    'https://a.example/b/ui',
  ])
    expect(() => make({ temporal, agents: [], pageUrl })).not.toThrow();
});

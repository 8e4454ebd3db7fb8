/** The turns that texts of spaces start are bounded, also where the settings of the agent leave that out. */
import { describe, expect, it } from 'vitest';
import {
  type HsafaAgentOptions,
  type HsafaStoredAgentOptions,
  hsafaAgentDocuments,
  hsafaAgents,
  memoryAgentDocuments,
} from '../../../../src/compat/hsafa/index.js';
import { type AgentSettingsSpec, defineAgent, definePlugin } from '../../../../src/index.js';
import { SPACES, spacesPlugin } from '../../../../src/spaces/index.js';
import { says, scriptedBy, testConversation } from '../../../../src/testing/index.js';
import { promise } from '../../../support/promise.js';
import { faultsOf } from '../../define/tool/faults.js';

const model = scriptedBy(() => says(''));
const agentWith = (settings?: AgentSettingsSpec) =>
  defineAgent({
    ...{ name: 'bot', model, instructions: 'Help.', plugins: [spacesPlugin()] },
    ...(settings === undefined ? {} : { settings }),
  });

const DOCUMENT = { name: 'bot', model: 'any', instructions: 'Help.' };
const documentAgent = (options: Partial<HsafaAgentOptions>) =>
  hsafaAgents(DOCUMENT, { model: () => model, ...options }).agents[0]!;
const THIRTY = { turns: 30, perMs: 60_000 };
const NEXT_THIRTY = { whileBusy: 'next_turn', rate: THIRTY };

describe('turns that a space starts', () => {
  it(
    'are 30 a minute for an agent that has the plugin alone; texts beyond wait, and none is lost',
    promise('G415'),
    async () => {
      const t = testConversation(agentWith(), { ports: { [SPACES.id]: {} } });
      const sent = Array.from({ length: 40 }, (_, n) => `e${n}`);
      const kinds = ['space.message', 'report', 'plan'];
      for (const [nth, eventId] of sent.entries())
        await t.sendEvent({ eventId, kind: kinds[nth % kinds.length] ?? '', payload: {} });
      const started = () =>
        t.events.flatMap((event) => (event.type === 'turn_started' ? [event.inbox ?? []] : []));
      expect(started()).toHaveLength(30);
      expect(t.events.filter(({ type }) => type === 'inbox_paused')).toHaveLength(1);
      await t.advance('1m');
      expect(started()).toHaveLength(31);
      expect(started().flat()).toEqual(sent);
    },
  );

  it.each<[string, AgentSettingsSpec]>([
    ['other settings', { maxSteps: 3 }],
    ['settings of the inbox without a rate', { inbox: { whileBusy: 'next_turn' } }],
  ])('are bounded where the agent has %s', promise('G415'), (_title, settings) => {
    expect(agentWith(settings).settings.inbox?.rate).toEqual(THIRTY);
    expect(documentAgent({ settings }).settings.inbox?.rate).toEqual(THIRTY);
  });

  it('are bounded by the settings of the agent, where these have a rate', () => {
    const settings: AgentSettingsSpec = { inbox: { rate: { turns: 2, per: '1 hour' } } };
    const inbox = { rate: { turns: 2, perMs: 3_600_000 } };
    expect(agentWith(settings).settings.inbox).toEqual(inbox);
    expect(documentAgent({ settings }).settings.inbox).toEqual(inbox);
  });

  it('are bounded by the settings of JSON form also without spaces', () => {
    expect(documentAgent({ spaces: false }).settings.inbox).toEqual(NEXT_THIRTY);
    const settings: AgentSettingsSpec = { maxSteps: 3 };
    expect(documentAgent({ settings, spaces: false }).settings.inbox).toEqual(NEXT_THIRTY);
  });
});

describe('the rate of a plugin of the application', () => {
  const own = definePlugin({ id: 'own', inboxRate: { turns: 60, per: '1 minute' } });
  const rate = { turns: 60, perMs: 60_000 };

  it.each<[string, Partial<HsafaStoredAgentOptions>]>([
    ['without settings', {}],
    ['with other settings', { settings: { maxSteps: 3 } }],
    [
      'with settings of the inbox that have none',
      { settings: { inbox: { whileBusy: 'next_turn' } } },
    ],
    ['without spaces', { spaces: false }],
    ['before a spacesPlugin with options', { plugins: [own, spacesPlugin({ memory: {} })] }],
  ])('is that of agents in JSON form %s', async (_title, given) => {
    const options = { plugins: [own], ...given };
    const inbox = { whileBusy: 'next_turn', rate };
    expect(documentAgent(options).settings.inbox).toEqual(inbox);
    const { put, manifests, catalog } = hsafaAgentDocuments(memoryAgentDocuments(), {
      model: () => model,
      ...options,
    });
    expect(catalog.template.settings.inbox).toEqual(inbox);
    await put({ tenant: 'default' }, DOCUMENT);
    expect(await manifests({ tenant: 'default' })).toMatchObject([{ settings: { inbox } }]);
    const found = await catalog.find({ tenant: 'default', agent: 'bot' }, {} as never);
    expect(found).toMatchObject({ settings: { inbox } });
  });

  it('is left for that of the settings', () => {
    const settings: AgentSettingsSpec = { inbox: { rate: { turns: 2, per: '1 minute' } } };
    expect(documentAgent({ plugins: [own], settings }).settings.inbox?.rate?.turns).toBe(2);
  });
});

describe('the rate of a plugin', () => {
  it('is that of the first plugin that has one', () => {
    const plugins = [
      definePlugin({ id: 'none' }),
      definePlugin({ id: 'one', inboxRate: { turns: 1, per: '1 minute' } }),
      definePlugin({ id: 'two', inboxRate: { turns: 2, per: '1 minute' } }),
    ];
    const agent = defineAgent({ name: 'bot', model, instructions: 'Help.', plugins });
    expect(agent.settings.inbox).toEqual({ rate: { turns: 1, perMs: 60_000 } });
  });

  it('stays as it is where the object that gave it changes', () => {
    const inboxRate = { turns: 1, per: '1 minute' } as const;
    const plugin = definePlugin({ id: 'own', inboxRate });
    Object.assign(inboxRate, { turns: 120 });
    expect(plugin.inboxRate).toEqual({ turns: 1, per: '1 minute' });
    expect(Object.isFrozen(plugin.inboxRate)).toBe(true);
  });

  it('has the bounds of the setting', () => {
    const faults = (inboxRate: unknown) =>
      Object.keys(faultsOf(() => definePlugin({ id: 'own', inboxRate: inboxRate as never })));
    expect(faults(30)).toEqual(['inboxRate']);
    expect(faults({ turns: 121, per: '2h' })).toEqual(['inboxRate.turns', 'inboxRate.per']);
  });
});

/** The turns that texts of spaces start are bounded, also where the settings of the agent leave that out. */
import { describe, expect, it } from 'vitest';
import { hsafaAgents } from '../../../../src/compat/hsafa/index.js';
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

describe('turns that a space starts', () => {
  it(
    'are 30 a minute for an agent that has the plugin alone; texts beyond wait, and none is lost',
    promise('G415'),
    async () => {
      const t = testConversation(agentWith(), { ports: { [SPACES.id]: {} } });
      const sent = Array.from({ length: 40 }, (_, n) => `e${n}`);
      for (const eventId of sent)
        await t.sendEvent({ eventId, kind: 'space.message', payload: {} });
      const started = () =>
        t.events.flatMap((event) => (event.type === 'turn_started' ? [event.inbox ?? []] : []));
      expect(started()).toHaveLength(30);
      expect(t.events.filter(({ type }) => type === 'inbox_paused')).toHaveLength(1);
      await t.advance('1m');
      expect(started()).toHaveLength(31);
      expect(started().flat()).toEqual(sent);
    },
  );

  it.each<[string, AgentSettingsSpec, object]>([
    ['other settings', { maxSteps: 3 }, { rate: { turns: 30, perMs: 60_000 } }],
    [
      'settings of the inbox without a rate',
      { inbox: { whileBusy: 'next_turn' } },
      { whileBusy: 'next_turn', rate: { turns: 30, perMs: 60_000 } },
    ],
    [
      'a rate of its own',
      { inbox: { rate: { turns: 2, per: '1 hour' } } },
      { rate: { turns: 2, perMs: 3_600_000 } },
    ],
  ])('are bounded where the agent has %s', promise('G415'), (_title, settings, inbox) => {
    expect(agentWith(settings).settings.inbox).toEqual(inbox);
    const document = { name: 'bot', model: 'any', instructions: 'Help.' };
    const [agent] = hsafaAgents(document, { model: () => model, settings }).agents;
    const { rate } = inbox as { readonly rate: object };
    expect(agent?.settings.inbox).toMatchObject({ rate });
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

  it('has the bounds of the setting', () => {
    const faults = (inboxRate: unknown) =>
      Object.keys(faultsOf(() => definePlugin({ id: 'own', inboxRate: inboxRate as never })));
    expect(faults(30)).toEqual(['inboxRate']);
    expect(faults({ turns: 121, per: '2h' })).toEqual(['inboxRate.turns', 'inboxRate.per']);
  });
});

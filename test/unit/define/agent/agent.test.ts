/** Agents: definition, manifest, and refused definitions. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent, defineTool, manifestOf, openaiModel } from '../../../../src/index.js';
import { CORE_REVISION } from '../../../../src/protocol/workflow/revisions.js';
import { promise } from '../../../support/promise.js';
import { agentFaults, containing } from '../tool/faults.js';

const model = { name: 'none', generate: () => Promise.reject(new Error('never')) };
const tool = defineTool({
  name: 'notes.search',
  description: 'Searches notes.',
  input: z.object({ query: z.string().describe('What to look for') }),
  approval: 'required',
  streaming: true,
  run: () => [],
});
const base = { name: 'support', model, instructions: 'Help.' };

describe('an agent definition', () => {
  it('gets its defaults', () => {
    expect(defineAgent(base)).toMatchObject({
      tools: [],
      settings: {
        maxSteps: 25,
        onBusy: 'reject',
        idleCloseMs: 2_592_000_000,
        whileWaiting: 'detach',
        coreRevision: CORE_REVISION,
      },
    });
  });

  it('is counted under its name, or under the feature that it names', () => {
    expect(defineAgent(base).feature).toBe('support');
    expect(defineAgent({ ...base, feature: 'checkout' }).feature).toBe('checkout');
    expect(() => defineAgent({ ...base, feature: 'a b' })).toThrow(
      'feature: feature may hold only',
    );
  });

  it('accepts its settings', () => {
    const settings = { maxSteps: 3, onBusy: 'queue', idleClose: '2 days' } as const;
    expect(defineAgent({ ...base, settings }).settings).toEqual({
      maxSteps: 3,
      onBusy: 'queue',
      idleCloseMs: 172_800_000,
      summaries: true,
      whileWaiting: 'detach',
      coreRevision: CORE_REVISION,
    });
    const blocking = { ...settings, whileWaiting: 'block' } as const;
    expect(defineAgent({ ...base, settings: blocking }).settings).toEqual({
      maxSteps: 3,
      onBusy: 'queue',
      idleCloseMs: 172_800_000,
      summaries: true,
      coreRevision: CORE_REVISION,
    });
  });

  it('pins whether its conversations are summarised', () => {
    const { settings } = defineAgent({ ...base, context: { summarize: false } });
    expect(settings).not.toHaveProperty('summaries');
  });

  it('publishes its description, and the schema as the model gets it', () => {
    expect(manifestOf(defineAgent({ ...base, description: 'Helps.', tools: [tool] }))).toEqual({
      name: 'support',
      description: 'Helps.',
      model: 'none',
      settings: {
        maxSteps: 25,
        onBusy: 'reject',
        idleCloseMs: 2_592_000_000,
        summaries: true,
        whileWaiting: 'detach',
        coreRevision: CORE_REVISION,
      },
      tools: [
        {
          name: 'notes.search',
          description: 'Searches notes.',
          executor: 'server',
          approval: 'required',
          streaming: true,
          executesFully: true,
          inputSchema: {
            type: 'object',
            properties: { query: { type: 'string', description: 'What to look for' } },
            required: ['query'],
          },
        },
      ],
    });
  });

  it('says how to wrap a model of the AI SDK, and where instructions by user go', () => {
    const faults = agentFaults({
      name: 'support',
      model: { specificationVersion: 'v3', doGenerate: () => undefined },
      instructions: () => 'You help Ada.',
    });
    expect(faults).toEqual({
      model: containing('aiSdkModel(...) of colloquy/ai-sdk'),
      instructions: containing("in a plugin's prepare, by context.add"),
    });
  });

  it('lists all of its faults in one error', promise('S7', 'H5', 'C3', 'X15', 'X43'), () => {
    const faults = agentFaults({
      name: 'sup port',
      description: 1,
      model: { name: 'x' },
      instructions: '',
      tools: [tool, { name: 'fake' }, tool],
      settings: {
        maxSteps: 0,
        onBusy: 'wait',
        idleClose: 'soon',
        whileWaiting: 'forget',
        toolExecution: 'backwards',
        maxStep: 1,
      },
      plugin: [],
      temperature: 1,
    });
    expect(faults).toEqual({
      name: containing('letters'),
      description: 'must be a text',
      model: containing('must be a model'),
      instructions: 'must be a non-empty text',
      'tools[1]': 'must come from defineTool',
      'tools[2]': 'duplicate name "notes.search"',
      'settings.maxSteps': 'must be a whole number from 1 to 500',
      'settings.onBusy': containing('reject, queue, interrupt, steer'),
      'settings.idleClose': containing('"soon"'),
      'settings.whileWaiting': containing('block, detach'),
      'settings.toolExecution': containing('parallel, sequential'),
      'settings.maxStep': containing('unknown field'),
      plugin: containing('unknown field'),
      temperature: containing('unknown field'),
    });
  });

  it.each([
    [{ ...base, settings: { maxSteps: 1.5 } }, 'settings.maxSteps'],
    [{ ...base, settings: { maxSteps: 501 } }, 'settings.maxSteps'],
    [{ ...base, settings: { onBusy: 'wait' } }, 'settings.onBusy'],
    [{ ...base, settings: [] }, 'settings'],
    [{ ...base, tools: 'all' }, 'tools'],
    [{ ...base, toolPolicy: 'ask' }, 'toolPolicy'],
    [{ ...base, instructions: () => 'Help.' }, 'instructions'],
    [null, ''],
  ])('refuses %j', (spec, field) => {
    expect(Object.keys(agentFaults(spec))).toEqual([field]);
  });

  it('is refused with tools of a provider where its model runs none, and with a bound for their calls', {
    ...promise('G107'),
  }, () => {
    const search = defineTool({
      name: 'web.search',
      executor: 'provider',
      provider: { type: 'web_search' },
    });
    const settings = { budgets: { callsOf: { 'web.search': 1 } } };
    expect(agentFaults({ ...base, tools: [search] })).toEqual({
      'tools[0]': 'model "none" does not run tools of its provider',
    });
    expect(
      agentFaults({
        ...base,
        model: openaiModel('gpt-5', { api: 'chat' }),
        tools: [tool, search],
        settings,
      }),
    ).toEqual({
      'tools[1]': containing('does not run "web_search"'),
      'settings.budgets.callsOf.web.search': containing('the provider runs it'),
    });
    const willing = { ...model, providerToolProblem: () => undefined };
    const agent = defineAgent({ ...base, model: willing, tools: [search] });
    // The configuration may hold keys.
    expect(JSON.stringify(manifestOf(agent))).not.toContain('"web_search"');
  });

  it('describes a gate that is a function as decided for each call', () => {
    const approvalOf = (approval: 'auto' | 'required' | (() => 'allow'), spec: object = {}) => {
      const gated = defineTool({
        name: 'notes.edit',
        description: 'Edits notes.',
        input: z.object({}),
        approval,
        run: () => null,
      });
      return manifestOf(defineAgent({ ...base, ...spec, tools: [gated] })).tools[0]?.approval;
    };
    expect(approvalOf(() => 'allow')).toBe('policy');
    expect(approvalOf('required')).toBe('required');
    expect(approvalOf('required', { toolPolicy: () => 'allow' })).toBe('required');
    expect(approvalOf('auto', { toolPolicy: () => 'allow' })).toBe('policy');
    expect(approvalOf('auto')).toBe('auto');
  });

  it('needs prices for a budget of cost, and prices that are numbers', () => {
    const settings = { budgets: { cost: 1 } };
    expect(agentFaults({ ...base, settings })).toEqual({
      'settings.budgets.cost': containing('needs a model with prices'),
    });
    const prices = { inputPerMTok: -1, cachedInputPerMTok: '1', currency: 'euro', perCall: 1 };
    expect(
      agentFaults({ ...base, model: { ...model, prices }, settings: { budgets: { cost: 0 } } }),
    ).toEqual({
      'model.prices.inputPerMTok': containing('from 0, got -1'),
      'model.prices.cachedInputPerMTok': containing('from 0, got "1"'),
      'model.prices.outputPerMTok': containing('got undefined'),
      'model.prices.currency': containing('three letters'),
      'model.prices.perCall': containing('unknown field'),
      'settings.budgets.cost': containing('from 0.000001'),
    });
  });
});

/** Prices and the budget of cost, as a user's test sees them. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent, defineTool, manifestOf, openaiModel } from '../../../../src/index.js';
import { calls, ScriptedModel, says, script } from '../../../../src/model/scripted/scripted.js';
import { testConversation } from '../../../../src/testing/test-conversation.js';

const look = defineTool({
  name: 'notes.look',
  description: 'Looks at the notes.',
  input: z.object({ page: z.int() }),
  run: () => 'nothing',
});
const prices = { inputPerMTok: 2_000, outputPerMTok: 6_000, currency: 'EUR' };
const spec = { name: 'reader', instructions: 'Read.', tools: [look] };

describe('an agent whose model has prices', () => {
  it('reports the cost of its calls and turns', async () => {
    const model = new ScriptedModel(
      [calls('notes.look', { page: 1 }), says('Nothing.')],
      undefined,
      {
        prices,
      },
    );
    const t = testConversation(defineAgent({ ...spec, model }));
    await t.send('Read');
    const costs = t.events.flatMap((event) => ('usage' in event ? [event.usage.costMicros] : []));
    expect(costs).toEqual([50_000, 50_000, 100_000]);
    expect(t.snapshot.usage).toEqual({ inputTokens: 20, outputTokens: 10, costMicros: 100_000 });
  });

  it('ends a turn that has used up its budget before the next call, played by another model, too', async () => {
    const agent = defineAgent({
      ...spec,
      model: openaiModel('gpt-5', { prices }),
      settings: { budgets: { cost: 0.1 } },
    });
    expect(agent.settings.budgets).toEqual({ cost: { micros: 100_000, currency: 'EUR' } });
    const model = script(
      calls('notes.look', { page: 1 }),
      calls('notes.look', { page: 2 }),
      says('never'),
    );
    const t = testConversation(agent, { model });
    await t.send('Read');
    expect(model.requests).toHaveLength(2);
    expect(t.text).toBe('Exceeded the cost budget of this turn (0.1 EUR). Stopping.');
    expect(t.events.at(-1)).toMatchObject({ type: 'turn_ended', reason: 'cost_budget' });
  });

  it('publishes their currency, and not the prices', () => {
    const agent = defineAgent({ ...spec, model: openaiModel('gpt-5', { prices }) });
    expect(manifestOf(agent)).toMatchObject({ currency: 'EUR' });
    expect(JSON.stringify(manifestOf(agent))).not.toContain('6000');
  });
});

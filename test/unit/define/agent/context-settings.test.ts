/** The part of a conversation that the model gets, as an agent sets it (A19). */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent, defineTool, openaiModel } from '../../../../src/index.js';
import { says, script } from '../../../../src/model/scripted/scripted.js';
import { promise } from '../../../support/promise.js';
import { agentFaults, containing } from '../tool/faults.js';

const model = script(says('hello'));
const base = { name: 'support', model, instructions: 'Help.' };

describe('the context of an agent', () => {
  it("has defaults: six turns of results, summaries by its own model, and the model's input limit", {
    ...promise('A19'),
  }, () => {
    expect(defineAgent(base).context).toEqual({
      maxTokens: 100_000,
      guessed: true,
      retention: { turns: 6 },
      summarize: {},
    });
    expect(defineAgent({ ...base, model: openaiModel('gpt-5.1') }).context).toMatchObject({
      maxTokens: 204_000,
    });
    const local = openaiModel('qwen', { baseURL: 'http://localhost/v1', contextTokens: 32_000 });
    expect(defineAgent({ ...base, model: local }).context).toMatchObject({ maxTokens: 24_000 });
  });

  it('accepts its settings', () => {
    const context = {
      maxTokens: 30_000,
      window: 40,
      retention: { last: 2 },
      summarize: { model: script(), instructions: 'Keep the names.' },
    } as const;
    expect(defineAgent({ ...base, context }).context).toEqual(context);
    expect(defineAgent({ ...base, context: { retention: 'when_needed' } }).context).toMatchObject({
      ...{ retention: { turns: 6 }, retentionWhenNeeded: true },
    });
    expect(defineAgent({ ...base, context: { summarize: false } }).context.summarize).toBe(false);
  });

  it('accepts the retention of a tool', promise('A17'), () => {
    const tool = (retention: object | 'never_evict') =>
      defineTool({
        name: 'notes.search',
        description: 'Searches.',
        input: z.object({}),
        run: () => null,
        retention: retention as { turns: 2 },
      }).retention;
    expect(tool({ turns: 2 })).toEqual({ turns: 2 });
    expect(tool({ last: 1 })).toEqual({ last: 1 });
    expect(tool('never_evict')).toBe('never_evict');
  });

  it('is refused with every rule that it breaks', () => {
    const prices = { inputPerMTok: 1, outputPerMTok: 1, currency: 'EUR' };
    const none = { name: 'none', generate: () => Promise.reject(new Error('unused')) };
    const other = { ...none, prices };
    expect(
      agentFaults({
        ...base,
        model: { ...none, contextTokens: 0 },
        context: {
          maxTokens: 0.5,
          window: 0,
          retention: { turns: 1, last: 1 },
          summarize: { model: other, instructions: ' ', when: 1 },
          tokens: 1,
        },
      }),
    ).toEqual({
      'model.contextTokens': 'must be a whole number from 1',
      'context.maxTokens': 'must be a whole number from 1',
      'context.window': 'must be a whole number from 1',
      'context.retention': containing("'never_evict'"),
      'context.summarize.model': containing('currency'),
      'context.summarize.instructions': 'must be a non-empty text',
      'context.summarize.when': containing('unknown field'),
      'context.tokens': containing('unknown field'),
    });
    expect(agentFaults({ ...base, context: 5 })).toEqual({ context: containing('object') });
    expect(agentFaults({ ...base, context: { summarize: true } })).toEqual({
      'context.summarize': containing('or false'),
    });
  });
});

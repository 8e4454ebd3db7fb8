/** Agents and tools by name, and the prompt that goes with them. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { DefinitionError, defineAgent, defineTool } from '../../../src/index.js';
import { promptOf } from '../../../src/tools/model-input/prompt.js';
import { createAgentRegistry } from '../../../src/tools/registry.js';
import { promise } from '../../support/promise.js';

const model = { name: 'none', generate: () => Promise.reject(new Error('never')) };
const spec = { description: 'Searches.', input: z.object({}), run: () => null };
const search = defineTool({ ...spec, name: 'notes.search' });
const list = defineTool({ ...spec, name: 'list', usage: 'List before you search.' });
const support = defineAgent({
  name: 'support',
  model,
  instructions: 'Help.',
  tools: [search, list],
});

describe('a registry of agents', () => {
  const registry = createAgentRegistry([support, support]);

  it('finds tools by their own names and by those on the wire', promise('X11', 'X25'), () => {
    expect(registry.tool('support', 'notes.search')).toBe(search);
    expect(registry.tool('support', 'notes__search')).toBe(search);
    expect(registry.tool('support', 'notes')).toBeUndefined();
    expect(registry.tool('sales', 'list')).toBeUndefined();
    expect(registry.manifests().map(({ name }) => name)).toEqual(['support']);
  });

  it('refuses two agents of one name, and values that are no agent', () => {
    const other = defineAgent({ name: 'support', model, instructions: 'Sell.' });
    expect(() => createAgentRegistry([support, other, {} as never])).toThrow(DefinitionError);
    expect(() => createAgentRegistry([support, other])).toThrow(/duplicate name "support"/);
  });
});

describe('the system prompt', () => {
  it('has the instructions and how to use each tool, by the names that the model sees', {
    ...promise('X16'),
  }, () => {
    expect(promptOf(support).system).toBe(
      'Help.\n\n# Tools\n\n## notes__search\nSearches.\n\n## list\nList before you search.',
    );
    expect(promptOf(support).tools.map(({ name }) => name)).toEqual(['notes.search', 'list']);
    // Put together once: every model call needs it.
    expect(promptOf(support)).toBe(promptOf(support));
  });

  it('is the instructions alone when there are no tools', () => {
    expect(promptOf(defineAgent({ name: 'a', model, instructions: 'Help.' })).system).toBe('Help.');
  });
});

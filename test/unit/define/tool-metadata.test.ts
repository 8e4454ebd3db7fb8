/** Metadata of tools: data that the engine keeps and shows, and never reads. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent, defineTool, httpTool, manifestOf } from '../../../src/index.js';
import { calls, says, script, testConversation } from '../../../src/testing/index.js';
import { defineUntyped, expectFault, type Fault } from './tool/faults.js';

const base = { name: 'find', description: 'Finds.', input: z.object({}) };
const run = () => 'found';
const METADATA = { visible: true, ui: { component: 'Card', order: [1, 2] } };

describe('metadata of a tool', () => {
  it.each(['server', 'human', 'client', 'external', 'internal', 'provider'])(
    'belongs to a tool with executor %s',
    (executor) => {
      const { input, ...named } = base;
      const own =
        executor === 'server'
          ? { input, run }
          : executor === 'provider'
            ? { provider: { type: 'web_search' } }
            : { input };
      expect(defineUntyped({ ...named, executor, ...own, metadata: METADATA })).toMatchObject({
        metadata: METADATA,
      });
    },
  );

  it('belongs to an HTTP tool, is a copy, and is absent where a tool has none', () => {
    const metadata: { visible: boolean } = { visible: true };
    const tool = httpTool({ ...base, method: 'GET', url: 'https://e.com', metadata });
    metadata.visible = false;
    expect(tool.metadata).toEqual({ visible: true });
    expect(defineTool({ ...base, run })).not.toHaveProperty('metadata');
  });

  it('is in the manifest, and in no request and no event', async () => {
    const model = script(calls('find', {}), says('Found.'));
    const tool = defineTool({ ...base, run, metadata: METADATA });
    const agent = defineAgent({ name: 'a', model, instructions: 'Help.', tools: [tool] });
    expect(manifestOf(agent).tools).toMatchObject([{ name: 'find', metadata: METADATA }]);
    const t = testConversation(agent);
    await t.send('find');
    expect(JSON.stringify([model.requests, t.events])).not.toContain('component');
  });

  it.each<Fault>([
    ['a list', { ...base, run, metadata: [1] }, 'metadata', /must be an object/],
    ['a text', { ...base, run, metadata: 'x' }, 'metadata', /must be an object/],
    ['a date', { ...base, run, metadata: { at: new Date(0) } }, 'metadata', /must be JSON/],
    ['code', { ...base, run, metadata: { run } }, 'metadata', /must be JSON/],
    ['too much', { ...base, run, metadata: { x: 'x'.repeat(4_100) } }, 'metadata', /4096 bytes/],
    ['half a character', { ...base, run, metadata: { x: '\ud800' } }, 'metadata.x', /./],
  ])('is refused as %s', (...fault) => {
    expectFault(fault);
  });
});

/**
 * Long texts of models and servers, made to be slow to read: the engine reads them in time linear in their length.
 */
import { describe, expect, it } from 'vitest';
import { defineAgent } from '../../../src/index.js';
import { says, script } from '../../../src/model/scripted/scripted.js';
import { testConversation } from '../../../src/testing/index.js';
import { filenameOf } from '../../../src/tools/mcp/files.js';
import { promise } from '../../support/promise.js';

/** Far above the time on a loaded machine, far below the former time. */
const SOON_MS = 5_000;

describe('an answer of a model that is to be JSON', () => {
  const output = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };

  it.each([
    ['```json\n{"n":1}\n```'],
    ['\n ``` \n\n{"n":1}\n\n  ```\n'],
    ['```json \n{"n":1}```'],
    [' {"n":1}\n'],
  ])('may stand in a block of code: %j', async (text) => {
    const agent = defineAgent({ name: 'a', instructions: '.', model: script(says(text)) });
    const t = testConversation(agent);
    await t.send('n?', { output });
    expect(t.output).toEqual({ n: 1 });
  });

  it('is read fast where it is a block of blank lines', promise('G277'), async () => {
    const slow = `\`\`\`\n${'\n'.repeat(300_000)}x`;
    const model = script(says(slow), says('{"n":1}'));
    const t = testConversation(defineAgent({ name: 'a', instructions: '.', model }));
    const startedAt = performance.now();
    await t.send('n?', { output });
    expect(t.output).toEqual({ n: 1 });
    expect(performance.now() - startedAt).toBeLessThan(SOON_MS);
  });
});

describe('the address of a file that a server names', () => {
  it.each([
    ['file:///a/b.png', 'b.png'],
    ['https://x.example/a%20b/c.txt?d=/e#/f', 'c.txt'],
    ['x:notes/', 'notes'],
    ['C:\\temp\\a b.txt', 'a b.txt'],
    ['https://x.example//', undefined],
    ['', undefined],
  ])('%s gives the name %s', (uri, name) => {
    expect(filenameOf(uri)).toBe(name);
  });

  it('is read fast where it is long and names nothing', promise('G277'), () => {
    const startedAt = performance.now();
    for (const uri of [`${'a'.repeat(5_000_000)}:`, `${'a/'.repeat(2_000_000)}:`])
      expect(filenameOf(uri)?.length ?? 0).toBeLessThanOrEqual(100);
    expect(performance.now() - startedAt).toBeLessThan(SOON_MS);
  });
});

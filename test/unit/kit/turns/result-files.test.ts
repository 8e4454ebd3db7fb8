/** Images and files that people, clients and other backends send beside a result, as a user's test sees them. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../../src/define/define-agent.js';
import { defineTool } from '../../../../src/define/define-tool.js';
import { callsAll, says, script } from '../../../../src/model/scripted/scripted.js';
import type { Resolution } from '../../../../src/protocol/calls/resolutions.js';
import { testConversation } from '../../../../src/testing/test-conversation.js';
import { promise } from '../../../support/promise.js';

const BLOB = { id: 'a'.repeat(64), bytes: 7, type: 'application/octet-stream' } as const;
const SHOT = { type: 'image', source: { blob: BLOB }, mediaType: 'image/png' } as const;
const SCAN = {
  type: 'file',
  source: { url: 'https://example.com/a.pdf' },
  filename: 'a.pdf',
} as const;

const input = z.object({});
const common = { input, description: 'd' } as const;
const tools = {
  shot: defineTool({ ...common, name: 'shot', executor: 'client' }),
  scan: defineTool({ ...common, name: 'scan', executor: 'human', output: z.string().trim() }),
  fetch: defineTool({ ...common, name: 'fetch', executor: 'external' }),
  later: defineTool({ ...common, name: 'later', executor: 'external', mode: 'detach' }),
  asks: defineTool({
    ...common,
    name: 'asks',
    run: (_input, ctx) => (ctx.asks === 0 ? ctx.ask({ form: z.string() }) : 'heard'),
  }),
};

async function asked(...names: readonly (keyof typeof tools)[]) {
  const model = script(
    callsAll(names.map((name) => ({ name, input: {} }))),
    says('Seen.'),
    says('Heard.'),
  );
  const agent = defineAgent({
    name: 'looker',
    model,
    instructions: 'Look.',
    tools: names.map((name) => tools[name]),
  });
  const t = testConversation(agent);
  await t.send('Look');
  return { t, model };
}

describe('files beside a result', () => {
  it.each<[keyof typeof tools, Resolution]>([
    ['shot', { type: 'result', value: { ok: 1 }, files: [SHOT, SCAN] }],
    ['fetch', { type: 'result', value: { ok: 1 }, files: [SHOT, SCAN] }],
    // A worker checks its answer once more, which changes the value.
    ['scan', { type: 'answer', value: ' done ', files: [SHOT, SCAN] }],
  ])('of %s are in the log, and shown to the model', promise('G100'), async (name, resolution) => {
    const { t, model } = await asked(name);
    expect((await t.resolve(name, resolution)).verdict).toBe('accepted');
    const result = name === 'scan' ? 'done' : { ok: 1 };
    expect(t.result(name)).toEqual({ ok: true, result, files: [SHOT, SCAN] });
    expect(model.requests[1]?.messages.at(-1)?.parts).toMatchObject([
      { type: 'tool_result', envelope: { ok: true, files: [SHOT, SCAN] } },
    ]);
    expect(t.text).toBe('Seen.');
  });

  it('that is new input are named to the model by reference', async () => {
    const { t, model } = await asked('later');
    await t.resolve('later', { type: 'result', value: 1, files: [SHOT] });
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain(BLOB.id);
  });

  it('are absent where there are none', async () => {
    const { t } = await asked('shot');
    await t.resolve('shot', { type: 'result', value: 1, files: [] });
    expect(t.result('shot')).toEqual({ ok: true, result: 1 });
  });

  it.each<[string, unknown, string]>([
    ['are no list', SHOT, '/resolution/files'],
    ['hold bytes', [{ type: 'image', source: { bytes: 'AAAA' } }], '/resolution/files/0/source'],
    ['are too many', Array.from({ length: 17 }, () => SCAN), '/resolution/files'],
    ['are of no type', [{ type: 'file', source: { blob: BLOB } }], '/resolution/files/0/mediaType'],
  ])(
    'that %s are refused by field, and the call stays open',
    promise('G100'),
    async (_what, files, path) => {
      const { t } = await asked('shot');
      const resolution = { type: 'result', value: 1, files } as Resolution;
      expect(await t.resolve('shot', resolution)).toMatchObject({
        verdict: 'invalid',
        problems: [{ path }],
      });
      expect(t.pending).toHaveLength(1);
    },
  );

  it("are refused with an answer to a question of the tool's code, which would not see them", async () => {
    const { t } = await asked('asks');
    const resolution = { type: 'answer', value: 'x', files: [SHOT] } as const;
    expect(await t.resolve('asks', resolution)).toMatchObject({
      verdict: 'invalid',
      problems: [{ path: '/resolution/files' }],
    });
  });
});

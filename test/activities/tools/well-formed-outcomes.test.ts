import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/define/define-tool.js';
import { promise } from '../../support/promise.js';
import { answer, environment, modelInput, modelOf, setUp, toolInput } from './fixtures.js';

const workTool = (run: () => unknown) =>
  defineTool({ name: 'work', description: 'Works.', input: z.object({ a: z.int() }), run });

describe('the outcome', () => {
  it('of a model contains only valid UTF-8 text, in its answer and in its calls', {
    ...promise('G246'),
  }, async () => {
    const note = defineTool({
      name: 'note',
      description: 'Notes.',
      input: z.object({ text: z.string() }),
      run: () => null,
    });
    const calls = [{ id: 'call_1', name: 'note', argumentsJson: '{"text":"a\\ud800b"}' }];
    const parts = [{ type: 'text' as const, text: 'a\ud800b😀' }];
    const model = modelOf(() =>
      Promise.resolve(answer({ parts, calls, finishReason: 'tool_calls' })),
    );
    const { activities } = setUp({ model, tools: [note] });
    const result = await environment({}).run(activities.callModel, modelInput());
    expect(result).toMatchObject({
      parts: [{ text: 'a\ufffdb😀' }],
      calls: [{ plan: { input: { text: 'a\ufffdb' } } }],
    });
  });

  it('of a tool contains only valid UTF-8 text, in results and errors', {
    ...promise('G246'),
  }, async () => {
    const lone = 'a\ud800b';
    const returns = workTool(() => ({ [lone]: [lone, '😀'] }));
    const throws = workTool(() => {
      throw new Error(lone);
    });
    const result = await environment({}).run(
      setUp({ tools: [returns] }).activities.runTool,
      toolInput(),
    );
    expect(result).toMatchObject({
      envelope: { ok: true, result: { 'a\ufffdb': ['a\ufffdb', '😀'] } },
    });
    const failed = await environment({}).run(
      setUp({ tools: [throws] }).activities.runTool,
      toolInput(),
    );
    expect(JSON.stringify(failed)).not.toContain('\\ud800');
    expect(failed).toMatchObject({
      envelope: { ok: false, error: { message: expect.stringContaining('a\ufffdb') as string } },
    });
  });
});

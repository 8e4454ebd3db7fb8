import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { wellFormedError } from '../../../src/activities/shared/failure.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { ToolRetry } from '../../../src/define/tool/retry.js';
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

// protobufjs writes short texts by an encoder of its own, which makes bytes of halves that end a worker.
describe('the failure', () => {
  const HALF = 'a\ud800b';
  const failureOf = (work: Promise<unknown>): Promise<Error> =>
    work.then(
      () => Promise.reject(new Error('did not fail')),
      (error: unknown) => error as Error,
    );

  it('of a tool that asks for another attempt contains only valid UTF-8 text', {
    ...promise('G246'),
  }, async () => {
    const retried = workTool(() => {
      throw new ToolRetry({ message: HALF });
    });
    const { activities } = setUp({ tools: [retried] });
    const input = toolInput();
    const failed = await failureOf(
      environment({}).run(activities.runTool, {
        ...input,
        call: { ...input.call, maxAttempts: 3 },
      }),
    );
    expect(failed.message).toBe('a\ufffdb');
    expect(failed.stack).not.toMatch(/\p{Surrogate}/u);
  });

  it('of a model contains only valid UTF-8 text, also one that its adapter made for Temporal', {
    ...promise('G246'),
  }, async () => {
    const model = modelOf(() => Promise.reject(ApplicationFailure.retryable(HALF, HALF)));
    const failed = await failureOf(
      environment({}).run(setUp({ model }).activities.callModel, modelInput()),
    );
    expect(failed.message).toBe('a\ufffdb');
    expect(failed.stack).not.toMatch(/\p{Surrogate}/u);
  });

  it('of another kind is mended with its name, its type and its causes', () => {
    const cause = Object.assign(new Error(HALF), { name: HALF });
    const failure = ApplicationFailure.create({ message: 'whole', type: HALF, cause });
    wellFormedError(failure);
    expect([failure.type, cause.name, cause.message]).toEqual(['a\ufffdb', 'a\ufffdb', 'a\ufffdb']);
  });

  it('keeps an error whose causes form a circle, and a text that was thrown', () => {
    const error: Error = new Error(HALF);
    error.cause = error;
    expect(wellFormedError(error)).toBe(error);
    expect(error.message).toBe('a\ufffdb');
    const inner = Object.freeze(new Error('whole'));
    const outer = new Error('outer', { cause: inner });
    expect(wellFormedError(outer)).toBe(outer);
    expect(wellFormedError(HALF)).toBe('a\ufffdb');
  });
});

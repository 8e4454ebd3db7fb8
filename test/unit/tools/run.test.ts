/** Runs of server tools: every way to end, and the result for the model. Scenario S32. */

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { CallContext, ToolContext } from '../../../src/define/tool/context.js';
import { portAccess } from '../../../src/define/tool/ports.js';
import type { AnyTool } from '../../../src/define/tool/types.js';
import { defineTool, jsonSchema, toolError } from '../../../src/index.js';
import type { ToolResultEnvelope } from '../../../src/protocol/calls/results.js';
import type { Json } from '../../../src/protocol/values/json.js';
import { runToolCall } from '../../../src/tools/run/run.js';
import { accessTo, StateView } from '../../../src/tools/shared/state-view.js';
import { NO_SECRETS } from '../../support/builders/scopes.js';
import { promise } from '../../support/promise.js';
import { NO_TRIGGERS } from '../../support/samples/no-triggers.js';
import { ended } from '../../support/samples/tool-ends.js';

type Handler = (input: unknown, ctx: ToolContext<Readonly<Record<string, unknown>>>) => unknown;

const quiet = () => undefined;
const ctx: Omit<CallContext<never>, 'signal'> = {
  agent: 'a',
  tenant: 'default',
  conversationId: 'c',
  turnId: 't',
  step: 1,
  toolCallId: 'call_1',
  idempotencyKey: 'key',
  requester: { id: 'u', verified: true, channel: 'api' },
  attempt: 1,
  run: 1,
  asks: 0,
  progress: quiet,
  ...accessTo(new StateView([], {})),
  services: undefined as never,
  ...NO_SECRETS,
  storedResults: { read: () => Promise.resolve(undefined) },
  ...portAccess(),
  triggers: NO_TRIGGERS,
  logger: { debug: quiet, info: quiet, warn: quiet, error: quiet, event: quiet },
};

const toolOf = (run: Handler): AnyTool =>
  defineTool({ name: 'x', description: 'X.', input: z.object({}), run });

async function resultOf(
  tool: AnyTool,
  options: { timeoutMs?: number; input?: Json } = {},
): Promise<ToolResultEnvelope> {
  const { input = {}, ...rest } = options;
  const { signal } = new AbortController();
  const { envelope, executionMs } = ended(await runToolCall({ tool, input, ctx, signal, ...rest }));
  expect(executionMs).toBeGreaterThanOrEqual(0);
  return envelope;
}

describe('a tool that returns', () => {
  it('has its value as the result', promise('A5', 'A57', 'C8'), async () => {
    expect(
      await resultOf(
        toolOf((input) => ({ got: input })),
        { input: { a: 1 } },
      ),
    ).toEqual({
      ok: true,
      result: { got: { a: 1 } },
    });
    expect(await resultOf(toolOf(() => undefined))).toEqual({ ok: true, result: null });
  });

  it('may return a value that resembles a result envelope: it is data', async () => {
    const value = { ok: false, error: 'not found' };
    expect(await resultOf(toolOf(() => value))).toEqual({ ok: true, result: value });
  });

  it('may fail on purpose, in words of its own', async () => {
    const failed = { ok: false, error: { code: 'tool_error', message: 'The card was declined.' } };
    expect(await resultOf(toolOf(() => toolError('The card was declined.')))).toEqual(failed);
    expect(
      await resultOf(
        toolOf(() => {
          throw toolError('The card was declined.');
        }),
      ),
    ).toEqual(failed);
  });

  it('has its result parsed by its output schema', promise('C6', 'C15'), async () => {
    const tool = defineTool({
      name: 'x',
      description: 'X.',
      input: z.object({}),
      output: z.object({ id: z.string(), at: z.date(), kind: z.string().default('refund') }),
      run: () => ({ id: 'r', at: new Date(0), secret: 's' }),
    });
    expect(await resultOf(tool)).toEqual({
      ok: true,
      result: { id: 'r', at: '1970-01-01T00:00:00.000Z', kind: 'refund' },
    });
  });

  it('gets an error of its own when its result breaks the schema, zod or JSON Schema', {
    ...promise('C15', 'X47'),
  }, async () => {
    const spec = { name: 'x', description: 'X.', input: z.object({}) };
    const zod = defineTool({
      ...spec,
      output: z.object({ id: z.string() }),
      run: () => ({ id: 7 as unknown as string }),
    });
    const raw = defineTool({
      ...spec,
      output: jsonSchema({ required: ['id'] }),
      run: () => ({ id: undefined }),
    });
    for (const tool of [zod, raw]) {
      const envelope = await resultOf(tool);
      expect(envelope).toMatchObject({ ok: false, error: { code: 'invalid_output' } });
      expect(JSON.stringify(envelope)).toContain('Tool \\"x\\" returned an invalid result: ');
    }
  });

  it('is cut to size with a marker', async () => {
    const envelope = await resultOf(toolOf(() => 'x'.repeat(3_000_000)));
    expect(envelope).toMatchObject({
      ok: true,
      result: {
        truncated: true,
        note: expect.stringContaining('of 3000000 bytes shown') as unknown,
      },
    });
    expect(JSON.stringify(envelope).length).toBeLessThan(210_000);
  });

  it('fails when its value cannot even be read', async () => {
    const value = {
      get secret(): string {
        throw new Error('locked');
      },
    };
    expect(await resultOf(toolOf(() => value))).toEqual({
      ok: false,
      error: {
        code: 'invalid_output',
        message: 'Tool "x" returned an invalid result: it cannot be turned into JSON: locked',
      },
    });
  });
});

describe('a tool that throws', promise('C41', 'X4', 'X21', 'X32', 'X46'), () => {
  it.each<[string, unknown, string]>([
    ['an error', new Error('no such payment'), 'no such payment'],
    ['an error without a message', new TypeError(), 'TypeError'],
    ['a text', 'nope', 'nope'],
    ['an object', { status: 404 }, '{"status":404}'],
    ['nothing', undefined, 'null'],
  ])('%s gives the model its message and no stack', async (_title, thrown, message) => {
    const expected = {
      ok: false,
      error: { code: 'tool_error', message: `Error in tool "x": ${message}` },
    };
    expect(
      await resultOf(
        toolOf(() => {
          throw thrown;
        }),
      ),
    ).toEqual(expected);
    expect(await resultOf(toolOf(async () => Promise.reject(thrown as Error)))).toEqual(expected);
  });

  it('a book gives the model its beginning', async () => {
    const envelope = await resultOf(
      toolOf(() => {
        throw new Error('x'.repeat(100_000));
      }),
    );
    expect(JSON.stringify(envelope).length).toBeLessThan(2_200);
  });
});

describe('a tool whose time is over', () => {
  const timeout = { ok: false, error: { code: 'timeout', message: 'Tool timed out after 20ms' } };

  it('gets that by its signal', promise('X24'), async () => {
    let reason: unknown;
    const tool = toolOf(
      async (_input, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reason = signal.reason;
            reject(new Error('stopped'));
          });
        }),
    );
    expect(await resultOf(tool, { timeoutMs: 20 })).toEqual(timeout);
    expect(reason).toMatchObject({ name: 'TimeoutError' });
  });

  it('is over even when it ignores its signal', async () => {
    expect(
      await resultOf(
        toolOf(async () => new Promise(() => undefined)),
        { timeoutMs: 20 },
      ),
    ).toEqual(timeout);
  });

  it('is over even when it answers the signal with a value', async () => {
    const tool = toolOf(
      async (_input, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve('late'));
        }),
    );
    expect(await resultOf(tool, { timeoutMs: 20 })).toEqual(timeout);
  });
});

describe('a run that is stopped from outside', () => {
  it('signals the tool, and does not wait for it', async () => {
    const outer = new AbortController();
    let signalled = false;
    const tool = toolOf(async (_input, { signal }) => {
      signal.addEventListener('abort', () => {
        signalled = true;
      });
      setTimeout(() => outer.abort(new Error('stop')), 5);
      return new Promise(() => undefined);
    });
    await expect(runToolCall({ tool, input: {}, ctx, signal: outer.signal })).rejects.toThrow(
      'stop',
    );
    expect(signalled).toBe(true);
  });

  it('does not begin when it was stopped before', async () => {
    let ran = false;
    const tool = toolOf(() => {
      ran = true;
    });
    const signal = AbortSignal.abort(new Error('stop'));
    await expect(runToolCall({ tool, input: {}, ctx, signal })).rejects.toThrow('stop');
    expect(ran).toBe(false);
  });
});

/**
 * The three layers, each by its contract alone: a tool without the engine, the executor with a tool and no loop, and the
 * loop with plans and results and no tool.
 */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent, defineTool } from '../../../src/index.js';
import { planCalls } from '../../../src/tools/plan/plan.js';
import { runToolCall } from '../../../src/tools/run/run.js';
import { toolFinished } from '../../support/builders/call-ends.js';
import {
  APPROVE,
  gatedCall,
  modelCalls,
  modelSays,
  plannedCall,
} from '../../support/builders/core-builders.js';
import { promise } from '../../support/promise.js';
import { aMachineWith } from '../../support/schedules/core-driver.js';
import { policyMeans as deps } from '../../support/schedules/policy-deps.js';

const model = { name: 'none', generate: () => Promise.reject(new Error('never')) };

const add = defineTool({
  name: 'sums.add',
  description: 'Adds.',
  input: z.object({ a: z.number(), b: z.number().default(1) }),
  output: z.number().max(100),
  approval: ({ a }) => (a > 10 ? { ask: { reason: 'large' } } : 'allow'),
  run: ({ a, b }) => a + b,
});

describe('the layer of tools', promise('X9', 'X10'), () => {
  it('validates, runs and says who finishes a call, without the engine', async () => {
    expect(add.executesFully).toBe(true);
    const input = add.input as z.ZodType;
    expect(input.parse({ a: 1 })).toEqual({ a: 1, b: 1 });
    expect(input.safeParse({ a: 'x' }).success).toBe(false);
    expect(await add.run?.({ a: 1, b: 2 }, {} as never)).toBe(3);
  });
});

describe('the layer of the executor', promise('X9', 'X11'), () => {
  const agent = defineAgent({ name: 'a', model, instructions: 'x', tools: [add] });
  const call = (argumentsJson: string, name = 'sums.add') => ({ id: 'c', name, argumentsJson });

  it('finds tools, maps calls on plans and says what is left, without a model or a loop', async () => {
    const planned = await planCalls({
      agent,
      calls: [call('{"a":1}'), call('{"a":11}'), call('{}'), call('{}', 'sums.sub')],
      deps,
    });
    expect(
      planned.map(({ plan: { executor, input, approval, error } }) => ({
        executor,
        input,
        asks: error === undefined && approval.needed,
        error: error?.code,
      })),
    ).toEqual([
      { executor: 'server', input: { a: 1, b: 1 }, asks: false, error: undefined },
      { executor: 'server', input: { a: 11, b: 1 }, asks: true, error: undefined },
      { executor: 'server', input: undefined, asks: false, error: 'invalid_input' },
      { executor: 'server', input: undefined, asks: false, error: 'unknown_tool' },
    ]);
  });

  it('runs a tool to a result, valid or not', async () => {
    const resultOf = async (a: number) => {
      const { signal } = new AbortController();
      const ended = await runToolCall({
        tool: add,
        input: { a, b: 1 },
        ctx: { logger: { warn: () => undefined } } as never,
        signal,
      });
      return 'envelope' in ended ? ended.envelope : undefined;
    };
    expect(await resultOf(1)).toEqual({ ok: true, result: 2 });
    expect(await resultOf(100)).toMatchObject({ ok: false, error: { code: 'invalid_output' } });
  });
});

describe('the layer of the loop', promise('X9', 'X12'), () => {
  it('decides by plans and results of tools that do not exist', () => {
    const m = aMachineWith(
      modelCalls([plannedCall('c1'), gatedCall('c2', { executor: 'client' })]),
    );
    expect(m.effectTypes()).toContain('run_tool');
    expect(m.pending).toMatchObject([{ toolCallId: 'c2', kind: 'approval' }]);
    toolFinished(m.machine, 'c1', { envelope: { ok: true, result: 1 }, executionMs: 1 });
    m.resolve('c2', APPROVE);
    m.resolve('c2', { type: 'result', value: 2 });
    expect(m.effectTypes()).toEqual(['call_model']);
    m.model(modelSays('done'));
    expect(m.last('turn_ended')).toMatchObject({ status: 'completed', text: 'done' });
  });
});

/** Plugins that see the calls of a worker: in the activity that runs them, at each attempt. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { CallHooks } from '../../../src/define/plugin/call-hooks.js';
import { ToolRetry } from '../../../src/define/tool/retry.js';
import { definePlugin, defineTool } from '../../../src/index.js';
import { until } from '../../support/until.js';
import { answer, environment, modelInput, modelOf, setUp, toolInput } from '../tools/fixtures.js';

function watchedBy(calls: CallHooks, run: () => unknown = () => 'done') {
  let runs = 0;
  const work = defineTool({
    ...{ name: 'work', description: 'Work', input: z.object({ a: z.number() }) },
    run: () => {
      runs += 1;
      return run();
    },
  });
  const { activities } = setUp({ tools: [work], plugins: [definePlugin({ id: 'watch', calls })] });
  const attempt = (over: Parameters<typeof toolInput>[0] = {}, number = 1) =>
    environment({ attempt: number }).run(activities.runTool, toolInput(over));
  return { attempt, runs: () => runs };
}

it('a plugin sees the begin of each attempt, and the end of the one that counts', async () => {
  const seen: string[] = [];
  const input = toolInput();
  const call = { ...input.call, maxAttempts: 2 };
  const { attempt } = watchedBy(
    {
      begins: ({ tool }) => {
        seen.push(`begins ${tool.name}`);
        return undefined;
      },
      ends: (_call, end) => {
        seen.push('envelope' in end ? `ends ${String(end.envelope.ok)}` : 'asked');
      },
    },
    () => {
      throw new ToolRetry({ message: 'busy' });
    },
  );
  await expect(attempt({ call })).rejects.toThrow('busy');
  expect(await attempt({ call }, 2)).toMatchObject({ envelope: { ok: false } });
  expect(seen).toEqual(['begins work', 'begins work', 'ends false']);
});

it('a call does not run while a plugin cannot see it begin: it fails, to be tried again, or says so where it has one attempt', async () => {
  const { attempt, runs } = watchedBy({
    begins: () => {
      throw new Error('no database');
    },
  });
  const message =
    'Plugin "watch" failed in calls.begins, so the call does not run in this attempt: no database';
  await expect(attempt()).rejects.toMatchObject({
    message,
    type: 'plugin_failed',
    nonRetryable: false,
  });
  expect(await attempt({ effects: 'once' })).toMatchObject({
    envelope: { ok: false, error: { code: 'not_available', message } },
  });
  expect(runs()).toBe(0);
});

it('a call that a plugin refuses has the reason as its result', async () => {
  const { attempt, runs } = watchedBy({ begins: () => 'not now' });
  expect(await attempt()).toEqual({
    envelope: { ok: false, error: { code: 'tool_error', message: 'not now' } },
    executionMs: 0,
  });
  expect(runs()).toBe(0);
});

it('a plugin that hangs at the end, or a worker that stops meanwhile, does not cost the call its result', async () => {
  let ends = 0;
  const hangs: CallHooks = {
    ends: async () => {
      ends += 1;
      await new Promise(() => undefined);
    },
  };
  const { activities } = setUp({
    tools: [
      defineTool({
        ...{ name: 'work', description: 'Work', input: z.object({ a: z.number() }) },
        run: () => 'done',
      }),
    ],
    plugins: [definePlugin({ id: 'watch', calls: hangs })],
  });
  const result = { envelope: { ok: true, result: 'done' } };
  expect(await environment().run(activities.runTool, toolInput())).toMatchObject(result);
  const stopped = environment();
  const running = stopped.run(activities.runTool, toolInput({ effects: 'once' }));
  await until('it hangs again', () => ends === 2);
  stopped.cancel();
  expect(await running).toMatchObject(result);
});

function writtenBy(calls: CallHooks) {
  const work = defineTool({
    ...{ name: 'work', description: 'Work', input: z.object({ a: z.number() }) },
    run: () => 'done',
  });
  const lines: string[] = [];
  const model = modelOf(async (_request, { onEvent }) => {
    onEvent({ type: 'text', text: 'Hm' });
    onEvent({ type: 'tool_arguments', index: 0, name: 'work', id: 'call_w', text: '{"a"' });
    onEvent({ type: 'tool_arguments', index: 1, name: 'unknown', text: '{' });
    await delay(50);
    onEvent({ type: 'tool_arguments', index: 0, text: ':1}' });
    return answer({ calls: [{ id: 'call_w', name: 'work', argumentsJson: '{"a":1}' }] });
  });
  const { activities } = setUp({
    ...{ model, tools: [work], plugins: [definePlugin({ id: 'watch', calls })] },
    log: (line) => lines.push(line),
  });
  const run = () => environment({ attempt: 2 }).run(activities.callModel, modelInput());
  return { run, lines };
}

it('a plugin sees the arguments of calls of known tools as the model writes them, and the end', async () => {
  const seen: unknown[] = [];
  const { run } = writtenBy({
    writes: (step, { conversationId }) => {
      seen.push([step.step, step.attempt, conversationId]);
      return {
        piece: (piece) => seen.push(piece),
        end: () => seen.push('end'),
      };
    },
  });
  await run();
  const tool = { name: 'work', executor: 'server' };
  expect(seen).toEqual([
    [2, 2, 'c-1'],
    { tool, index: 0, toolCallId: 'call_w', offset: 0, text: '{"a"' },
    { tool, index: 0, offset: 4, text: ':1}' },
    'end',
  ]);
});

it.each(['writes', 'piece', 'end'] as const)(
  'a plugin that fails in %s misses the rest, and the model call goes on',
  async (where) => {
    let pieces = 0;
    const fail = (place: string): void => {
      if (place === where) throw new Error('broken');
    };
    const { run, lines } = writtenBy({
      writes: () => {
        fail('writes');
        return {
          piece: () => {
            pieces += 1;
            fail('piece');
          },
          end: () => {
            fail('end');
          },
        };
      },
    });
    expect(await run()).toMatchObject({ calls: [{ plan: { toolCallId: 'call_w' } }] });
    expect(pieces).toBe({ writes: 0, piece: 1, end: 2 }[where]);
    expect(lines.filter((line) => line.includes('calls.writes'))).toHaveLength(1);
  },
);

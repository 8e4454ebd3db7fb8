/** Tool runs as the workflow schedules them. Scenarios S32 and S33 at this tier. */
import {
  ActivityCancellationDetails,
  ApplicationFailure,
  CancelledFailure,
} from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/define/define-tool.js';
import { httpTool } from '../../../src/define/http-tool.js';
import type { ToolContext } from '../../../src/define/tool/context.js';
import { ToolRetry } from '../../../src/define/tool/retry.js';
import type { Tool } from '../../../src/define/tool/types.js';
import type { Effects } from '../../../src/protocol/calls/executors.js';
import { promise } from '../../support/promise.js';
import { ended } from '../../support/samples/tool-ends.js';
import { json, startPeer } from '../../support/servers/http-peer.js';
import { environment, setUp, toolInput } from './fixtures.js';

interface Services {
  readonly rate: number;
}
type Context = ToolContext<Services>;

function workTool(
  run: (input: unknown, ctx: Context) => unknown,
  more: { streaming?: boolean; effects?: Effects } = {},
): Tool<Services> {
  return defineTool({
    name: 'work',
    description: 'Works.',
    input: z.object({ a: z.int() }),
    ...more,
    run,
  });
}

const never = async (): Promise<unknown> => new Promise(() => undefined);

describe('a tool run', () => {
  it('of an HTTP tool does not reach the API that the worker knows', promise('G140'), async () => {
    await using api = await startPeer(json('reached'));
    const tool = httpTool({
      ...{ name: 'work', description: 'Works.', input: z.object({ a: z.int() }) },
      ...{ method: 'POST', url: `${api.url}/v1`, allowPrivate: true },
    });
    const { activities } = setUp({ tools: [tool], apiUrls: [api.url] });
    expect(await environment().run(activities.runTool, toolInput())).toMatchObject({
      envelope: {
        error: { message: expect.stringContaining('is the API of this installation') as string },
      },
    });
    expect(api.requests).toEqual([]);
  });

  it('passes the planned input and the facts of the call to the tool', {
    ...promise('A20', 'C9', 'C11', 'C17', 'X26', 'X48'),
  }, async () => {
    let seen: Context | undefined;
    const tool = workTool((input, ctx) => {
      seen = ctx;
      return { input, rate: ctx.services.rate };
    });
    const approver = { id: 'bob', verified: true, channel: 'api' } as const;
    const { activities, live } = setUp({ tools: [tool] });
    const result = await environment({ attempt: 2 }).run(
      activities.runTool,
      toolInput({ approver }),
    );
    expect(result).toEqual({
      envelope: { ok: true, result: { input: { a: 1 }, rate: 7 } },
      executionMs: expect.any(Number) as unknown,
    });
    expect(seen).toMatchObject({
      agent: 'support',
      tenant: 'default',
      conversationId: 'c-1',
      turnId: 'turn_1',
      step: 2,
      toolCallId: 'call_1',
      idempotencyKey: 'default/c-1/chain/call_1',
      requester: { id: 'ann' },
      approver: { id: 'bob' },
      attempt: 2,
    });
    expect(live).toEqual([
      {
        type: 'tool_call_started',
        turnId: 'turn_1',
        step: 2,
        attempt: 2,
        toolCallId: 'call_1',
        name: 'work',
      },
    ]);
  });

  it('does not parse its input again: the approved input runs', {
    ...promise('A21', 'C26', 'N11'),
  }, async () => {
    const tool = defineTool({
      name: 'work',
      description: 'Works.',
      input: z.object({ a: z.int().transform((a) => a * 2) }),
      run: ({ a }) => a,
    });
    const { activities } = setUp({ tools: [tool] });
    const { envelope } = ended(await environment().run(activities.runTool, toolInput()));
    expect(envelope).toEqual({ ok: true, result: 1 });
  });

  it('returns a thrown error to the model as a result', async () => {
    const tool = workTool(() => {
      throw new Error('no such payment');
    });
    const { activities } = setUp({ tools: [tool] });
    const { envelope } = ended(await environment().run(activities.runTool, toolInput()));
    expect(envelope).toEqual({
      ok: false,
      error: { code: 'tool_error', message: 'Error in tool "work": no such payment' },
    });
  });

  it('that requests a retry fails its activity with the requested pause, until its last attempt', async () => {
    const tool = workTool(() => {
      throw new ToolRetry({ after: '90s', message: 'rate limited' });
    });
    const { activities } = setUp({ tools: [tool] });
    const { call, ...rest } = toolInput();
    const input = { ...rest, call: { ...call, maxAttempts: 3 } };
    for (const attempt of [1, 2])
      await expect(environment({ attempt }).run(activities.runTool, input)).rejects.toMatchObject({
        type: 'tool_retry',
        message: 'rate limited',
        nonRetryable: false,
        nextRetryDelay: 90_000,
      });
    const refused = { ok: false, error: { code: 'tool_error', message: 'rate limited' } };
    const last = await environment({ attempt: 3 }).run(activities.runTool, input);
    expect(last).toEqual({ envelope: refused, executionMs: expect.any(Number) as unknown });
    // An older workflow does not pass the number of attempts.
    const old = ended(await environment().run(activities.runTool, toolInput()));
    expect(old.envelope).toEqual(refused);
  });

  it('that requests a pause beyond the time limit of its call has its message as the result at once', {
    ...promise('G78'),
  }, async () => {
    const tool = workTool(() => {
      throw new ToolRetry({ after: '1 hour', message: 'rate limited' });
    });
    const { activities } = setUp({ tools: [tool] });
    const { call, ...rest } = toolInput();
    const input = { ...rest, call: { ...call, maxAttempts: 3 } };
    const inMinutes = (minutes: number): string =>
      new Date(Date.now() + minutes * 60_000).toISOString();
    const { envelope } = ended(
      await environment().run(activities.runTool, { ...input, endsAt: inMinutes(59) }),
    );
    expect(envelope).toEqual({ ok: false, error: { code: 'tool_error', message: 'rate limited' } });
    await expect(
      environment().run(activities.runTool, { ...input, endsAt: inMinutes(61) }),
    ).rejects.toMatchObject({ type: 'tool_retry' });
  });

  it('has only the remaining time of its call, also in a later attempt', async () => {
    const { activities } = setUp({ tools: [workTool(never)] });
    const endsAt = new Date(Date.now() + 20).toISOString();
    const { envelope } = ended(
      await environment({ attempt: 2 }).run(activities.runTool, toolInput({ endsAt })),
    );
    expect(envelope).toMatchObject({ error: { code: 'timeout' } });
  });

  it('that requests a retry after its time limit has timed out', async () => {
    const tool = workTool(async (_input, { signal }) => {
      await new Promise((resolve) => {
        signal.addEventListener('abort', resolve);
      });
      throw new ToolRetry({ message: 'too late' });
    });
    const { activities } = setUp({ tools: [tool] });
    const { envelope } = ended(
      await environment().run(activities.runTool, toolInput({ runMs: 20 })),
    );
    expect(envelope).toMatchObject({ error: { code: 'timeout' } });
  });

  it('ends at the time limit in its plan, even if the definition has changed', async () => {
    const { activities } = setUp({ tools: [workTool(never)] });
    const { envelope } = ended(
      await environment().run(activities.runTool, toolInput({ runMs: 20 })),
    );
    expect(envelope).toMatchObject({
      error: { code: 'timeout', message: 'Tool timed out after 20ms' },
    });
  });

  it('shows progress of streaming tools until they end', promise('S20', 'A16'), async () => {
    let report: Context['progress'] = () => undefined;
    const run = (_input: unknown, ctx: Context): string => {
      report = ctx.progress;
      ctx.progress({ percent: 50n, at: new Date(0) });
      ctx.progress('x'.repeat(100_000));
      ctx.progress({
        get broken(): never {
          throw new Error('no');
        },
      });
      return 'done';
    };
    const { activities, live } = setUp({ tools: [workTool(run, { streaming: true })] });
    await environment().run(activities.runTool, toolInput());
    report('too late');
    expect(live).toMatchObject([
      { type: 'tool_call_started' },
      {
        type: 'tool_progress',
        toolCallId: 'call_1',
        payload: { percent: '50', at: '1970-01-01T00:00:00.000Z' },
      },
      { type: 'tool_progress', payload: { truncated: true } },
    ]);
    expect(live).toHaveLength(3);
  });

  it('ignores progress of tools that are not declared as streaming', {
    ...promise('S20', 'A16'),
  }, async () => {
    const { activities, live } = setUp({ tools: [workTool((_input, ctx) => ctx.progress(1))] });
    await environment().run(activities.runTool, toolInput());
    expect(live.map(({ type }) => type)).toEqual(['tool_call_started']);
  });

  it('heartbeats by a timer, independently of the tool', async () => {
    let end: (result: string) => void = () => undefined;
    const tool = workTool(
      async () =>
        new Promise((resolve) => {
          end = resolve;
        }),
    );
    const { activities } = setUp({ tools: [tool] });
    const env = environment({ heartbeatTimeoutMs: 30 });
    let beats = 0;
    env.onHeartbeat(() => {
      beats += 1;
      if (beats === 3) end('done');
    });
    await env.run(activities.runTool, toolInput());
    expect(beats).toBeGreaterThanOrEqual(3);
  });
});

describe('a tool run that cannot start', () => {
  it('because the tool is gone returns that to the model', async () => {
    const gone = {
      ok: false,
      error: { code: 'not_available', message: 'Tool "work" no longer available' },
    };
    const human = defineTool({
      name: 'work',
      description: 'Asks.',
      executor: 'human',
      input: z.object({}),
    });
    for (const tools of [[], [human]]) {
      const { activities } = setUp({ tools });
      const { envelope } = ended(await environment().run(activities.runTool, toolInput()));
      expect(envelope).toEqual(gone);
    }
  });

  it('because this worker lacks the agent is left to other workers', async () => {
    const { activities } = setUp();
    const running = environment().run(activities.runTool, toolInput({ agent: 'sales' }));
    await expect(running).rejects.toMatchObject({ type: 'unknown_agent', nonRetryable: false });
  });

  it('because this worker lacks the agent is never an unknown outcome, even with effects `once`', async () => {
    const { activities } = setUp();
    const input = toolInput({ agent: 'sales', effects: 'once' });
    const { envelope } = ended(await environment().run(activities.runTool, input));
    expect(envelope).toMatchObject({ error: { code: 'not_available' } });
  });

  it('a second time is refused for effects `once`', async () => {
    let runs = 0;
    const tool = workTool(() => (runs += 1), { effects: 'once' });
    const { activities } = setUp({ tools: [tool] });
    const input = toolInput({ effects: 'once' });
    const first = ended(await environment({ attempt: 1 }).run(activities.runTool, input));
    const second = ended(await environment({ attempt: 2 }).run(activities.runTool, input));
    expect(first.envelope).toEqual({ ok: true, result: 1 });
    expect(second.envelope).toMatchObject({ error: { code: 'outcome_unknown' } });
    expect(runs).toBe(1);
  });
});

describe('a tool run that is stopped', () => {
  function stoppable() {
    const aborts: string[] = [];
    const tool = workTool(async (_input, { signal }) => {
      signal.addEventListener('abort', () => aborts.push('aborted'));
      return never();
    });
    return { aborts, ...setUp({ tools: [tool] }) };
  }

  it('by a cancel aborts the tool and ends as cancelled, at once', promise('X24'), async () => {
    const { activities, aborts } = stoppable();
    const env = environment();
    const running = env.run(activities.runTool, toolInput());
    setTimeout(() => env.cancel(), 5);
    await expect(running).rejects.toBeInstanceOf(CancelledFailure);
    expect(aborts).toEqual(['aborted']);
  });

  it('by the end of its worker aborts the tool and is retried', async () => {
    const { activities, aborts } = stoppable();
    const env = environment();
    const running = env.run(activities.runTool, toolInput());
    const details = new ActivityCancellationDetails({ workerShutdown: true });
    setTimeout(() => env.cancel('WORKER_SHUTDOWN', details), 5);
    await expect(running).rejects.toMatchObject({ type: 'tool_lost', nonRetryable: false });
    await expect(running).rejects.toBeInstanceOf(ApplicationFailure);
    expect(aborts).toEqual(['aborted']);
  });
});

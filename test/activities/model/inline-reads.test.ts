/**
 * Inline reads in the model activity: results that return with the answer, calls left to an activity, and their
 * visibility.
 */
import { ActivityCancellationDetails } from '@temporalio/common';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { defineTool, httpTool, readResults, ToolRetry, withFiles } from '../../../src/index.js';
import { INLINE_READS_BESIDE_MS } from '../../../src/protocol/limits/limits.js';
import {
  INLINE_READS_AT_ONCE,
  MAX_MODEL_ANSWER_BYTES,
} from '../../../src/protocol/limits/service-limits.js';
import { promise } from '../../support/promise.js';
import { json, startPeer } from '../../support/servers/http-peer.js';
import { until } from '../../support/until.js';
import { environment, modelInput } from '../tools/fixtures.js';
import { MemoryBlobs } from '../transcripts/memory-blobs.js';
import {
  aborted,
  answered,
  answeredWith,
  asking,
  BOUNDS,
  type Ctx,
  looks,
  type Run,
  reads,
  type Services,
  setUpAsking,
  takenIn,
} from './reads-setup.js';

describe('reads of an answer', () => {
  it('run like their activities, and return with the answer', async () => {
    const seen: Ctx[] = [];
    const tool = reads((label, ctx) => {
      seen.push(ctx);
      return `${label} seen`;
    });
    const result = await answered(looks(2), [tool]);
    expect(takenIn(result)).toEqual([
      ['call_0', { ok: true, result: 'l0 seen' }],
      ['call_1', { ok: true, result: 'l1 seen' }],
    ]);
    expect(result.calls[1]?.read).toMatchObject({
      toolCallId: 'call_1',
      ended: { executionMs: expect.any(Number) as number },
    });
    expect(seen[1]).toMatchObject({
      ...{ agent: 'support', tenant: 'default', conversationId: 'c-1', turnId: 'turn_1', step: 2 },
      ...{ toolCallId: 'call_1', attempt: 1, run: 1, requester: { id: 'ann' } },
      services: { rate: 7 },
    });
    expect(seen[1]?.idempotencyKey).toMatch(/^default\/c-1\/turn_1\.2\/call_1\/[0-9a-f]+$/);
  });

  it('of HTTP tools do not reach the API that the worker knows', promise('G140'), async () => {
    await using api = await startPeer(json('reached'));
    const tool = httpTool({
      ...{ name: 'look', description: 'Looks.', input: z.object({ label: z.string() }) },
      ...{ method: 'GET', url: `${api.url}/{label}`, allowPrivate: true, inline: true },
    });
    const apiUrls = [api.url];
    const read = async () => takenIn(await answered(looks(1), [tool], { apiUrls }));
    // The first one loads the HTTP client, which on a busy machine may take longer than a read may.
    const [[, envelope] = []] = await until('a read in time', read, {
      holds: ([taken]) => taken?.[1] !== undefined,
    });
    expect(envelope).toMatchObject({
      error: { message: expect.stringContaining('is the API of this installation') as string },
    });
    expect(api.requests).toEqual([]);
  });

  it('that fail with a code of their own have it as their result', async () => {
    const tool = reads(() => {
      throw new Error('no such order');
    });
    const [[, envelope] = []] = takenIn(await answered(looks(1), [tool]));
    expect(envelope).toMatchObject({ ok: false, error: { code: 'tool_error' } });
  });

  it('appear as usual: all of the text, then each call at its start, with its progress', async () => {
    const tool = reads(
      (label, ctx) => {
        ctx.progress({ at: label });
        return label;
      },
      { streaming: true },
    );
    const { activities, live } = setUpAsking(looks(1), [tool]);
    await environment().run(activities.callModel, modelInput({ reads: BOUNDS }));
    expect(live.map((event) => event.type)).toEqual([
      ...['model_call_started', 'text_delta', 'text_delta'],
      ...['tool_call_started', 'tool_progress'],
    ]);
    const of = { turnId: 'turn_1', step: 2, attempt: 1, toolCallId: 'call_0', name: 'look' };
    expect(live.slice(3)).toEqual([
      { type: 'tool_call_started', ...of },
      { type: 'tool_progress', ...of, payload: { at: 'l0' } },
    ]);
  });

  it(`run at most ${INLINE_READS_AT_ONCE} at once`, promise('G55'), async () => {
    let [running, most] = [0, 0];
    const tool = reads(async (label) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running -= 1;
      return label;
    });
    await answered(looks(20), [tool]);
    expect(most).toBe(INLINE_READS_AT_ONCE);
  });

  it('are not run if the workflow passes no bounds', async () => {
    let runs = 0;
    const tool = reads(() => (runs += 1));
    const { activities } = setUpAsking(looks(1), [tool]);
    const result = await environment().run(activities.callModel, modelInput());
    expect([runs, takenIn(result)]).toEqual([0, [['call_0', undefined]]]);
  });

  it('are not run past a bound from the workflow', async () => {
    const labels: string[] = [];
    const tool = reads((label) => labels.push(label));
    const { activities } = setUpAsking(looks(3), [tool]);
    const spent = { byTool: { look: 1 }, byCall: {} };
    const input = modelInput({ reads: { ...BOUNDS, callsOf: { look: 2 }, spent } });
    await environment().run(activities.callModel, input);
    expect(labels).toEqual(['l0']);
  });

  it('are not visible to the policies of their own answer', promise('G59'), async () => {
    const seen: unknown[] = [];
    const pay = defineTool<Services>({
      name: 'pay',
      description: 'Pays.',
      input: z.object({ label: z.string() }),
      approval: (_input, { results }) => {
        seen.push(results);
        return { ask: {} };
      },
      run: () => null,
    });
    const result = await answered(asking(['look', 'l0'], ['pay', 'p']), [reads(() => 'x'), pay]);
    expect(result.calls[0]?.read).toBeDefined();
    expect(seen).toEqual([[]]);
  });
});

describe('a read is left to an activity', () => {
  it('when it takes too long: its signal fires, and other reads of the answer count', async () => {
    const ends: string[] = [];
    const tool = reads(async (label, ctx) => {
      if (label === 'l1') return label;
      await aborted(ctx);
      ends.push(`${label} aborted`);
      return label;
    });
    expect(takenIn(await answered(looks(2), [tool]))).toEqual([
      ['call_0', undefined],
      ['call_1', { ok: true, result: 'l1' }],
    ]);
    expect(ends).toEqual(['l0 aborted']);
  });

  it('when earlier reads have used up the total time: it does not start', async () => {
    const begun: string[] = [];
    const tool = reads(async (label, ctx) => {
      begun.push(label);
      await aborted(ctx);
      return label;
    });
    const result = await answered(looks(INLINE_READS_AT_ONCE + 1), [tool]);
    expect(begun).toHaveLength(INLINE_READS_AT_ONCE);
    expect(result.calls.every(({ read }) => read === undefined)).toBe(true);
  });

  it('when it ignores its signal: the answer does not wait for it', async () => {
    const tool = reads(() => new Promise(() => undefined));
    expect(takenIn(await answered(looks(1), [tool]))).toEqual([['call_0', undefined]]);
  });

  it.each<[string, Run]>([
    ['it asks', (_label, ctx) => ctx.ask({ form: z.boolean() })],
    [
      'it requests a retry',
      () => {
        throw new ToolRetry({ after: '1s', message: 'not yet' });
      },
    ],
  ])('when %s', promise('G58'), async (_why, run) => {
    expect(takenIn(await answered(looks(1), [reads(run)]))).toEqual([['call_0', undefined]]);
  });

  it.each<[string, boolean, () => Services]>([
    ['its tool is not defined in this worker', false, () => ({ rate: 7 })],
    ['something fails outside of its code', true, lost],
  ])('when %s', promise('G58'), async (_why, isDefined, services) => {
    const runs: string[] = [];
    const tool = reads((label) => runs.push(label));
    const tools = isDefined ? [tool] : [];
    const whole = await answeredWith(tool, { tools: [tool], services: () => ({ rate: 7 }) });
    expect(takenIn(whole).map(([, envelope]) => envelope)).toMatchObject([
      { ok: true },
      { ok: true },
    ]);
    runs.length = 0;
    expect(takenIn(await answeredWith(tool, { tools, services }))).toEqual([
      ['call_0', undefined],
      ['call_1', undefined],
    ]);
    expect(runs).toEqual([]);
  });

  it.each<[string, Run]>([
    ['its result is too large to be shown whole', () => 'x'.repeat(5_000)],
    [
      'it shows a file',
      () =>
        withFiles('shown', [
          { type: 'file', mediaType: 'text/csv', source: { bytes: Buffer.from('a,b') } },
        ]),
    ],
  ])('when %s, and leaves nothing in the blob store', promise('G58'), async (_why, run) => {
    const blobs = new MemoryBlobs();
    const tools = [reads(run, { maxResultBytes: 1_024 }), readResults];
    expect(takenIn(await answered(looks(1), tools, { blobs }))).toEqual([['call_0', undefined]]);
    expect([...blobs.stored]).toEqual([]);
  });

  it('when its result does not fit beside the answer: results that fit are kept, in call order', {
    ...promise('G58'),
  }, async () => {
    const tool = reads((label) => `${label}${'x'.repeat(190_000)}`);
    const result = await answered(looks(9), [tool]);
    expect(result.calls.map(({ read }) => read !== undefined)).toEqual(
      Array.from({ length: 9 }, (_, index) => index < 6),
    );
    const bytes = Buffer.byteLength(JSON.stringify(result));
    expect(bytes).toBeLessThanOrEqual(MAX_MODEL_ANSWER_BYTES);
    expect(bytes + 190_000).toBeGreaterThan(MAX_MODEL_ANSWER_BYTES);
  });

  it('soon, when a tool that runs as an activity is beside it; the result of a quick one is kept', {
    ...promise('G57'),
  }, async () => {
    const other = defineTool<Services>({
      name: 'work',
      description: 'Works.',
      input: z.object({ label: z.string() }),
      run: () => null,
    });
    let begun = false;
    const tool = reads(async (label, ctx) => {
      if (label === 'quick') return label;
      begun = true;
      await aborted(ctx);
      return label;
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const running = answered(asking(['look', 'quick'], ['look', 'slow'], ['work', 'w']), [
      tool,
      other,
    ]);
    await until('the slow one runs', () => begun);
    vi.advanceTimersByTime(INLINE_READS_BESIDE_MS);
    expect(takenIn(await running)).toEqual([
      ['call_0', { ok: true, result: 'quick' }],
      ['call_1', undefined],
      ['call_2', undefined],
    ]);
  });
});

function lost(): never {
  throw new Error('no connection');
}

it('without a blob store a large result is cut as usual and returns with the answer', async () => {
  const tool = reads(() => 'x'.repeat(5_000), { maxResultBytes: 1_024 });
  const [[, envelope] = []] = takenIn(await answered(looks(1), [tool]));
  expect(envelope).toMatchObject({ ok: true, result: { truncated: true } });
});

describe('a model call that is cancelled while it reads', () => {
  function slow() {
    const seen: string[] = [];
    const tool = reads(async (label, ctx) => {
      if (label === 'l0') return label;
      seen.push('begun');
      await aborted(ctx);
      seen.push('aborted');
      return label;
    });
    return { seen, ...setUpAsking(looks(2), [tool]) };
  }

  it('by a cancel ends as cancelled, with its text so far and no calls', {
    ...promise('G60'),
  }, async () => {
    const { activities, seen } = slow();
    const env = environment();
    const running = env.run(activities.callModel, modelInput({ reads: BOUNDS }));
    await until('the read runs', () => seen.length === 1);
    env.cancel('CANCELLED', new ActivityCancellationDetails({ cancelRequested: true }));
    expect(await running).toMatchObject({
      ...{ aborted: true, finishReason: 'cancelled', calls: [] },
      parts: [{ type: 'text', text: 'Hello.' }],
    });
    expect(seen).toEqual(['begun', 'aborted']);
  });

  it('by the end of its worker returns its answer with the finished reads', async () => {
    const { activities, seen } = slow();
    const env = environment();
    const running = env.run(activities.callModel, modelInput({ reads: BOUNDS }));
    await until('the read runs', () => seen.length === 1);
    env.cancel('WORKER_SHUTDOWN', new ActivityCancellationDetails({ workerShutdown: true }));
    const result = await running;
    expect(result).not.toHaveProperty('aborted');
    expect(takenIn(result)).toEqual([
      ['call_0', { ok: true, result: 'l0' }],
      ['call_1', undefined],
    ]);
    expect(seen).toEqual(['begun', 'aborted']);
  });

  it('heartbeats the usage of its answer, so that a lost one is counted', async () => {
    const { activities } = slow();
    const env = environment();
    const beats: unknown[] = [];
    env.onHeartbeat((details) => beats.push(details));
    await env.run(activities.callModel, modelInput({ reads: BOUNDS }));
    expect(beats).toMatchObject([{ spent: { usage: { inputTokens: 3, outputTokens: 2 } } }]);
  });
});

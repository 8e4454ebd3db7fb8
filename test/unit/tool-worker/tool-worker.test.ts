/** A tool worker over a scripted API: what it sends, and when it stops. */
import { describe, expect, it } from 'vitest';
import type { ToolCallContext } from '../../../src/tool-worker/index.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';
import { ACCEPTED, answer, HELD, LOST, offer, ScriptedApi } from './scripted-api.js';

/** A handler that ends when the test says so. */
function held() {
  const runs: { ctx: ToolCallContext; end: (value: unknown) => void }[] = [];
  const render = async (_input: unknown, ctx: ToolCallContext): Promise<unknown> =>
    await new Promise((resolve) => {
      runs.push({ ctx, end: resolve });
    });
  const begun = async (count = 1) => {
    await until('the handler runs', () => runs.length >= count);
    const last = runs.at(-1);
    if (last === undefined) throw new Error('no run');
    return last;
  };
  return { render, runs, begun };
}

const refuse = (status: number, headers: Record<string, string> = {}) =>
  answer({ detail: 'no', code: 'x' }, status, headers);

const sceneOf = (input: unknown): string => (input as { readonly scene: string }).scene;

describe('a tool worker', () => {
  it('claims an offered call, runs its tool, and sends the result under the claim', async () => {
    const api = new ScriptedApi();
    await api.worker((input) => ({ url: `x/${sceneOf(input)}` }), { token: 'secret' });
    api.send('offer', offer('a|1'));
    await until('the result', () => api.of('resolution').length);
    const [stream, claim, result] = api.asked;
    expect(stream?.url.href).toBe(
      'http://api.example/base/v1/tool-calls/stream?tools=render&executors=external',
    );
    expect(claim?.url.pathname).toBe('/base/v1/conversations/c1/tool-calls/a%7C1/claim');
    expect(claim?.body).toMatchObject({ lease: 60_000, requestId: expect.any(String) as string });
    expect(result?.body).toEqual({
      resolution: { type: 'result', value: { url: 'x/a|1' } },
      ...{ claimId: 'claim-1', argsDigest: 'digest', requestId: 'tool-worker-claim-1' },
    });
    for (const { headers } of api.asked) expect(headers.get('authorization')).toBe('Bearer secret');
    expect(api.failures).toEqual([]);
  });

  it('runs as many calls at a time as it may, and the next one when one ends', async () => {
    const api = new ScriptedApi();
    const { render, runs, begun } = held();
    const worker = await api.worker(render, { concurrency: 2 });
    for (const name of ['a', 'b', 'c']) api.send('offer', offer(name));
    const { end } = await begun(2);
    expect([runs.length, worker.running]).toEqual([2, 2]);
    end(1);
    await begun(3);
    expect(api.of('claim')).toHaveLength(3);
  });

  it('leaves a call to the worker that was faster, and claims it when it is offered again', async () => {
    const api = new ScriptedApi();
    let claims = 0;
    api.claim = () => ((claims += 1) === 1 ? answer(HELD, 409) : answer(ACCEPTED));
    await api.worker(() => 1);
    api.send('offer', offer('a'));
    await until('a claim', () => claims === 1);
    api.send('offer', offer('a'));
    api.send('offer', offer('b', { tool: 'another' }));
    api.send('offer', offer('a', { attempt: 2 }));
    await until('the result', () => api.of('resolution').length);
    expect(claims).toBe(2);
    expect(api.failures).toEqual([]);
  });

  it('runs a call once that is offered several times while it runs', async () => {
    const api = new ScriptedApi();
    const { render, begun, runs } = held();
    await api.worker(render, { concurrency: 5 });
    api.send('offer', offer('a'));
    await begun();
    api.send('reset', {});
    api.send('offer', offer('a'));
    api.send('offer', offer('a', { attempt: 2 }));
    api.send('offer', offer('b'));
    await begun(2);
    expect(runs.map(({ ctx }) => ctx.toolCallId)).toEqual(['a', 'b']);
  });

  it('renews its claim while a slow handler runs, with a refusal to claim anew', async () => {
    const api = new ScriptedApi();
    const { render, begun } = held();
    await api.worker(render, { leaseMs: 1_000 });
    api.send('offer', offer('a'));
    const { ctx, end } = await begun();
    await until('two renewals', () => api.of('claim').length >= 3);
    expect(api.of('claim')[1]?.body).toEqual({
      ...{ claimId: 'claim-1', renewOnly: true, lease: 1_000 },
    });
    expect(ctx.signal.aborted).toBe(false);
    end('done');
    await until('the result', () => api.of('resolution').length);
  });

  it('makes an error of a handler the result, and reports it', async () => {
    const api = new ScriptedApi();
    await api.worker(() => {
      throw new Error('no film');
    });
    api.send('offer', offer('a'));
    await until('the result', () => api.of('resolution').length);
    expect(api.of('resolution')[0]?.body).toMatchObject({
      resolution: { type: 'error', message: 'no film' },
    });
    expect(api.failures).toMatchObject([{ kind: 'handler', call: { toolCallId: 'a' } }]);
  });

  it('shows progress under its claim', async () => {
    const api = new ScriptedApi();
    const shown: boolean[] = [];
    await api.worker(async (_input, { progress }) => {
      shown.push(await progress({ percent: 50 }));
      api.progress = () => refuse(503);
      shown.push(await progress({ percent: 60 }));
    });
    api.send('offer', offer('a'));
    await until('the result', () => api.of('resolution').length);
    expect(shown).toEqual([true, false]);
    expect(api.of('progress')[0]?.body).toEqual({ payload: { percent: 50 }, claimId: 'claim-1' });
    expect(api.of('resolution')[0]?.body).toMatchObject({ resolution: { value: null } });
  });
});

describe('a claim that is lost', promise('G362'), () => {
  it('stops the handler, and no result of it is sent', async () => {
    const api = new ScriptedApi();
    const { render, begun } = held();
    const worker = await api.worker(render, { leaseMs: 1_000 });
    api.send('offer', offer('a'));
    const { ctx, end } = await begun();
    api.claim = () => answer(LOST, 409);
    await until('the signal', () => ctx.signal.aborted);
    expect(String(ctx.signal.reason)).toContain('not_holder');
    end('too late');
    await until('the run ends', () => worker.running === 0);
    expect(api.of('resolution')).toEqual([]);
  });

  it('stops the handler at the end of the lease when the API does not answer', async () => {
    const api = new ScriptedApi();
    const { render, begun } = held();
    await api.worker(render, { leaseMs: 1_000 });
    api.send('offer', offer('a'));
    const { ctx } = await begun();
    api.claim = () => Promise.reject(new TypeError('fetch failed'));
    await until('the signal', () => ctx.signal.aborted);
    expect(String(ctx.signal.reason)).toContain('lease has ended');
  });

  it('is not sent again in the place of a result that the API has yet to take', async () => {
    const api = new ScriptedApi();
    const worker = await api.worker(() => 1, { leaseMs: 1_000 });
    api.resolution = () => refuse(503);
    api.send('offer', offer('a'));
    await until('a result', () => api.of('resolution').length);
    api.claim = () => answer({ verdict: 'stale', why: 'already_resolved' }, 409);
    await until('the run ends', () => worker.running === 0);
  });
});

describe('a result', () => {
  it('is sent until the API takes it, each time as the same request', async () => {
    const api = new ScriptedApi();
    const answers = [
      () => Promise.reject(new TypeError('fetch failed')),
      () => refuse(503, { 'retry-after': '1' }),
      () => answer({ verdict: 'queued', requestId: 'r' }, 202),
      () => new Response('<html>', { status: 200 }),
      () => answer({ verdict: 'duplicate', first: {} }),
    ];
    api.resolution = () => answers.shift()?.() ?? refuse(500);
    const worker = await api.worker(() => 1);
    api.send('offer', offer('a'));
    await until('all answers', () => answers.length === 0 && worker.running === 0);
    const bodies = new Set(api.of('resolution').map(({ body }) => JSON.stringify(body)));
    expect([api.of('resolution').length, bodies.size]).toEqual([5, 1]);
    expect(api.failures).toEqual([]);
  });

  it('that breaks the schema is reported with its problems, and an error takes its place', async () => {
    const api = new ScriptedApi();
    const problems = [{ path: '/url', message: 'is required' }];
    api.resolution = ({ body }) =>
      (body['resolution'] as { type: string }).type === 'error'
        ? answer({ verdict: 'accepted' })
        : answer({ verdict: 'invalid', problems }, 422);
    const worker = await api.worker(() => ({}));
    api.send('offer', offer('a'));
    await until('two results', () => api.of('resolution').length === 2 && worker.running === 0);
    const [first, second] = api.of('resolution').map(({ body }) => body);
    expect(second?.['resolution']).toEqual({
      type: 'error',
      message: 'The output of the tool breaks a rule: /url is required',
    });
    expect(second?.['requestId']).not.toBe(first?.['requestId']);
    expect(api.failures).toMatchObject([{ kind: 'invalid_output', problems }]);
  });

  it.each([
    ['is too large', 413, 'x'],
    ['is not JSON', 200, 1n],
  ])('that %s is reported, and an error takes its place', async (_title, status, value) => {
    const api = new ScriptedApi();
    api.resolution = ({ body }) =>
      (body['resolution'] as { type: string }).type === 'error'
        ? answer({ verdict: 'accepted' })
        : refuse(status);
    const worker = await api.worker(() => value);
    api.send('offer', offer('a'));
    await until('an error', () => api.of('resolution').length > 0 && worker.running === 0);
    expect(api.of('resolution').at(-1)?.body).toMatchObject({ resolution: { type: 'error' } });
    expect(api.failures).toMatchObject([{ kind: 'invalid_output' }]);
  });

  it('that a check refused after it was accepted is not made a second time', async () => {
    const api = new ScriptedApi();
    let runs = 0;
    await api.worker(() => (runs += 1));
    const problems = [{ path: '', message: 'must be even' }];
    api.send('offer', offer('a', { reverted: { requestId: 'tool-worker-claim-0', problems } }));
    await until('the result', () => api.of('resolution').length);
    expect(api.of('resolution')[0]?.body).toMatchObject({ resolution: { type: 'error' } });
    expect(runs).toBe(0);
  });

  it('that is refused, because the call has ended, is reported once', async () => {
    const api = new ScriptedApi();
    api.resolution = () => answer({ verdict: 'expired', deadline: 'x' }, 410);
    const worker = await api.worker(() => 1);
    api.send('offer', offer('a'));
    await until('a failure', () => api.failures.length && worker.running === 0);
    expect(api.failures).toMatchObject([{ kind: 'result_refused' }]);
  });
});

describe('a claim', () => {
  it('is repeated as the same request until there is a verdict; a duplicate is its own', async () => {
    const api = new ScriptedApi();
    const answers = [
      () => Promise.reject(new TypeError('fetch failed')),
      () => refuse(503),
      () => answer({ verdict: 'duplicate', first: { claimId: 'claim-7' } }),
    ];
    api.claim = () => answers.shift()?.() ?? answer(ACCEPTED);
    await api.worker(() => 1);
    api.send('offer', offer('a'));
    await until('the result', () => api.of('resolution').length);
    const ids = new Set(
      api
        .of('claim')
        .slice(0, 3)
        .map(({ body }) => body['requestId']),
    );
    expect(ids.size).toBe(1);
    expect(api.of('resolution')[0]?.body).toMatchObject({ claimId: 'claim-7' });
  });

  it('that this worker may not make is reported, and not repeated', async () => {
    const api = new ScriptedApi();
    api.claim = () => answer({ verdict: 'forbidden', reason: 'not in the audience' }, 403);
    const worker = await api.worker(() => 1);
    api.send('offer', offer('a'));
    await until('a failure', () => api.failures.length && worker.running === 0);
    expect(api.failures).toMatchObject([{ kind: 'claim_refused' }]);
    expect(api.failures[0]?.message).toContain('not in the audience');
    expect(api.of('claim')).toHaveLength(1);
  });
});

describe('a stop', () => {
  it('with a drain claims nothing more, and sends the results of what runs', async () => {
    const api = new ScriptedApi();
    const { render, begun } = held();
    const worker = await api.worker(render);
    api.send('offer', offer('a'));
    const { ctx, end } = await begun();
    api.send('offer', offer('b'));
    const stopping = worker.stop();
    end('done');
    await stopping;
    await worker.stopped;
    expect(ctx.signal.aborted).toBe(false);
    expect([api.of('claim').length, api.of('resolution').length]).toEqual([1, 1]);
  });

  it.each([
    ['without a drain', { drain: false }],
    ['whose time is over', { timeoutMs: 10 }],
  ])('%s stops handlers, and lets their claims end within a second', async (_title, how) => {
    const api = new ScriptedApi();
    const { render, begun } = held();
    const worker = await api.worker(render);
    api.send('offer', offer('a'));
    const { ctx } = await begun();
    await worker.stop(how);
    expect(ctx.signal.aborted).toBe(true);
    expect(api.of('claim').at(-1)?.body).toEqual({
      ...{ claimId: 'claim-1', renewOnly: true, lease: 1_000 },
    });
    expect(api.of('resolution')).toEqual([]);
  });

  it('comes with the signal of the options', async () => {
    const api = new ScriptedApi();
    const leaving = new AbortController();
    const worker = await api.worker(() => 1, { signal: leaving.signal });
    leaving.abort();
    await worker.stopped;
    await (await api.worker(() => 1, { signal: leaving.signal })).stopped;
  });
});

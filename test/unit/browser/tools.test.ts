/** Functions of pages that run client calls: several pages see a call, one of them runs it. */
import { describe, expect, it, vi } from 'vitest';
import { ApiError } from '../../../src/browser/net/problem.js';
import { ToolRegistry } from '../../../src/browser/tools/registry.js';
import type { CallPort } from '../../../src/browser/tools/run-call.js';
import { ToolRunner } from '../../../src/browser/tools/runner.js';
import type { ClientTool, ClientTools } from '../../../src/browser/tools/types.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';
import { pages, SharedCall } from './shared-call.js';

const LOST = new ApiError({ status: 0, code: 'unreachable', detail: 'no answer' });

const reads = (ran: string[], name: string): ClientTools => ({
  'cart.read': ({ currency }: { readonly currency: string }) => {
    ran.push(name);
    return { total: `4 ${currency}` };
  },
});
/** A function that works until it is stopped. */
function endless(stopped: string[]): ClientTool {
  return (_input: never, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        stopped.push((signal.reason as Error).message);
        reject(signal.reason as Error);
      });
    });
}

const answered = (shared: SharedCall) =>
  until('it is answered', () => shared.resolutions.length > 0);

describe('a client call', () => {
  it(
    'that several pages see is run by one of them, with its input, and answered under its claim',
    promise('G356', 'A49'),
    async () => {
      const shared = new SharedCall();
      const ran: string[] = [];
      for (const name of ['one', 'two', 'three']) shared.page(reads(ran, name));
      await until('it is over', () => shared.pending.length === 0);
      expect(ran).toHaveLength(1);
      expect(shared.resolutions).toEqual([
        {
          resolution: { type: 'result', value: { total: '4 EUR' } },
          ...{ claimId: 'claim-1', requestId: 'result-claim-1', argsDigest: 'sha256:1' },
        },
      ]);
    },
  );

  it('is run by another page once the claim of a closed one is lost', promise('G356'), async () => {
    const shared = new SharedCall();
    const ran: string[] = [];
    const first = shared.page({ 'cart.read': endless([]) });
    await until('it is claimed', () => shared.call.claim !== undefined);
    shared.page(reads(ran, 'two'));
    first.runner.stop();
    shared.loseClaim();
    await until('it is over', () => shared.pending.length === 0);
    expect(ran).toEqual(['two']);
  });

  it('is run by another page after the lease, where no page learns that the claim is lost', async () => {
    vi.useFakeTimers();
    try {
      const shared = new SharedCall();
      await shared.port.claim('a', { lease: 60 });
      const { claim: _unseen, ...unclaimed } = shared.call;
      shared.call = unclaimed;
      const ran: string[] = [];
      const page = shared.page(reads(ran, 'two'));
      await vi.advanceTimersByTimeAsync(0);
      expect(shared.claims).toHaveLength(2);
      page.runner.look(shared.pending);
      expect(ran).toEqual([]);
      // The lease that the refusal names is over long before, and the claim was renewed: the page asks in pauses.
      await vi.advanceTimersByTimeAsync(4_999);
      expect(shared.claims).toHaveLength(2);
      // Lost, and the view does not change.
      await vi.advanceTimersByTimeAsync(1);
      expect(shared.claims).toHaveLength(3);
    } finally {
      vi.useRealTimers();
    }
  });

  it('keeps its claim while the function works, and stops the function when the claim is lost', async () => {
    const shared = new SharedCall();
    const stopped: string[] = [];
    shared.page({ 'cart.read': endless(stopped) });
    await until('it is renewed', () => shared.claims.length >= 4);
    // A renewal never takes the call anew.
    expect(shared.claims.slice(1)).toEqual(
      shared.claims.slice(1).map(() => ({ claimId: 'claim-1', renewOnly: true })),
    );
    expect(stopped).toEqual([]);
    const { claim, ...rest } = shared.call;
    shared.call = { ...rest, claim: { ...claim!, claimId: 'other' } };
    shared.show();
    expect(stopped).toEqual(['another page has claimed the call']);
    expect(shared.resolutions).toEqual([]);
  });

  it('stops its function when the lease has run out, while a renewal has no answer', async () => {
    const shared = new SharedCall();
    const stopped: string[] = [];
    const { port } = shared;
    const claim: CallPort['claim'] = (id, options) =>
      options.claimId === undefined ? port.claim(id, options) : new Promise(() => undefined);
    const tools = new ToolRegistry({ 'cart.read': endless(stopped) });
    const runner = new ToolRunner({ ...port, claim }, tools, { leaseMs: 60 });
    pages.push(runner);
    runner.look(shared.pending);
    await until('it is stopped', () => stopped.length > 0);
    expect(stopped).toEqual(['the claim of the call is lost']);
    expect(shared.resolutions).toEqual([]);
  });

  it('stops its function when its claim was shown, and is shown no more', async () => {
    const shared = new SharedCall();
    const stopped: string[] = [];
    shared.page({ 'cart.read': endless(stopped) }, { leaseMs: 60_000 });
    await until('it is claimed', () => shared.call.claim !== undefined);
    await Promise.resolve();
    shared.show();
    expect(stopped).toEqual([]);
    shared.loseClaim();
    expect(stopped).toEqual(['the claim of the call is lost']);
  });

  it('is run anew when it waits again, or for other arguments, under the same id', async () => {
    const shared = new SharedCall();
    const stopped: string[] = [];
    const inputs: unknown[] = [];
    const tool: ClientTool = (input: never, context) => {
      inputs.push(input);
      return endless(stopped)(input, context);
    };
    shared.page({ 'cart.read': tool }, { leaseMs: 60_000 });
    await until('it runs', () => inputs.length === 1);
    const { claim: _lost, ...rest } = shared.call;
    shared.call = { ...rest, prompt: { currency: 'CHF' }, argsDigest: 'sha256:2' };
    shared.loseClaim();
    expect(stopped).toEqual(['the call is over']);
    await until('it runs again', () => inputs.length === 2);
    expect(inputs).toEqual([{ currency: 'EUR' }, { currency: 'CHF' }]);
    expect(shared.resolutions).toEqual([]);
  });

  it('stops its function when it ends elsewhere, and when the page leaves', async () => {
    const shared = new SharedCall();
    const stopped: string[] = [];
    shared.page({ 'cart.read': endless(stopped) });
    await until('it is claimed', () => shared.call.claim !== undefined);
    shared.end();
    expect(stopped).toEqual(['the call is over']);
    const other = new SharedCall();
    const { runner } = other.page({ 'cart.read': endless(stopped) });
    await until('it is claimed', () => other.call.claim !== undefined);
    runner.stop();
    expect(stopped.at(-1)).toBe('the page has left the conversation');
    expect([...shared.resolutions, ...other.resolutions]).toEqual([]);
  });

  it('waits a while for its function, and is left to other pages after that', async () => {
    const shared = new SharedCall();
    const ran: string[] = [];
    const { registry } = shared.page({});
    const remove = registry.add('cart.read', reads(ran, 'late')['cart.read']!);
    await until('it is over', () => shared.pending.length === 0);
    expect(ran).toEqual(['late']);
    expect(() => registry.add('cart.read', () => 1)).toThrow(
      'the tool "cart.read" is registered already',
    );
    remove();
    expect(registry.find('cart.read')).toBeUndefined();
    vi.useFakeTimers();
    try {
      const later = new SharedCall();
      const page = later.page({}, { graceMs: 5_000 });
      vi.advanceTimersByTime(5_001);
      page.registry.add('cart.read', reads(ran, 'too late')['cart.read']!);
      page.runner.look(later.pending);
      await vi.advanceTimersByTimeAsync(100);
      expect(later.claims).toEqual([]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('is answered with the error of its function, or of a result that the API refuses', async () => {
    const thrown = new SharedCall();
    thrown.page({
      'cart.read': () => {
        throw new Error('the cart is locked');
      },
    });
    await answered(thrown);
    expect(thrown.resolutions[0]?.resolution).toEqual({
      type: 'error',
      message: 'the cart is locked',
    });
    const refused = new SharedCall();
    refused.verdictOf = ({ type }) =>
      type === 'result'
        ? {
            verdict: 'invalid',
            problems: [{ path: '/resolution/value/total', message: 'must be a number' }],
          }
        : { verdict: 'accepted', toolCallId: 'a', seq: 10 };
    refused.page(reads([], 'one'));
    await until('it is over', () => refused.pending.length === 0);
    expect(refused.resolutions.map(({ resolution }) => resolution)).toEqual([
      { type: 'result', value: { total: '4 EUR' } },
      { type: 'error', message: 'The result of the page was refused: /total must be a number' },
    ]);
  });

  it('whose result a worker refused is not run again, but answered with the reason', async () => {
    const shared = new SharedCall();
    const problems = [{ path: '/resolution/value/total', message: 'must match a pattern' }];
    shared.call = { ...shared.call, reverted: { requestId: 'result-1', problems } };
    const ran: string[] = [];
    shared.page(reads(ran, 'one'));
    await answered(shared);
    expect(ran).toEqual([]);
    expect(shared.resolutions[0]?.resolution).toMatchObject({
      message: 'The result of the page was refused: /total must match a pattern',
    });
  });

  it('is answered once over lost connections, with the same request id', async () => {
    const shared = new SharedCall();
    const ran: string[] = [];
    shared.verdictOf = () => ({
      verdict: 'duplicate',
      first: { verdict: 'accepted', toolCallId: 'a', seq: 1 },
    });
    shared.lost.push(undefined, LOST, LOST);
    shared.page(reads(ran, 'one'), { leaseMs: 10_000 });
    await until('it is sent three times', () => shared.resolutions.length === 3);
    expect(new Set(shared.resolutions.map(({ requestId }) => requestId))).toEqual(
      new Set(['result-claim-1']),
    );
    expect(ran).toHaveLength(1);
  });

  it('is answered again after a pause, where no answer comes for long', async () => {
    vi.useFakeTimers();
    try {
      const shared = new SharedCall();
      const resolve = vi.fn<CallPort['resolve']>();
      for (let count = 0; count < 100; count += 1) resolve.mockRejectedValueOnce(LOST);
      resolve.mockResolvedValue({ verdict: 'accepted', toolCallId: 'a', seq: 1 });
      const pauses = { minPauseMs: 1_000, maxPauseMs: 1_000 };
      const registry = new ToolRegistry(reads([], 'one'));
      const runner = new ToolRunner({ ...shared.port, resolve, pauses }, registry);
      pages.push(runner);
      runner.look(shared.pending);
      await vi.advanceTimersByTimeAsync(3_100);
      expect(resolve.mock.calls.length).toBeGreaterThanOrEqual(3);
      expect(resolve.mock.calls.length).toBeLessThanOrEqual(7);
    } finally {
      vi.useRealTimers();
    }
  });

  it('shows the progress of its function', async () => {
    const shared = new SharedCall();
    shared.page({
      'cart.read': async (_input: never, { progress, toolCallId, name, conversationId }) => {
        await progress({ toolCallId, name, conversationId });
        return undefined;
      },
    });
    await answered(shared);
    expect(shared.progress).toEqual([{ toolCallId: 'a', name: 'cart.read', conversationId: 'c1' }]);
    expect(shared.resolutions[0]?.resolution).toEqual({ type: 'result', value: null });
  });

  it('of another kind, or that this user may not run, is left alone', async () => {
    const approval = new SharedCall();
    approval.call = { ...approval.call, kind: 'approval' };
    approval.page(reads([], 'one'));
    expect(approval.claims).toEqual([]);
    const shared = new SharedCall();
    const port: CallPort = {
      ...shared.port,
      claim: async () => ({ verdict: 'forbidden', reason: 'no' }),
    };
    const ran: string[] = [];
    const runner = new ToolRunner(port, new ToolRegistry(reads(ran, 'one')));
    pages.push(runner);
    runner.look(shared.pending);
    await until('it was asked for', () => true);
    runner.look(shared.pending);
    expect(ran).toEqual([]);
  });
});

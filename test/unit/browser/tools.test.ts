/** Functions of pages that run client calls: several pages see a call, one of them runs it. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ApiError } from '../../../src/browser/net/problem.js';
import { ToolRegistry } from '../../../src/browser/tools/registry.js';
import type { CallPort } from '../../../src/browser/tools/run-call.js';
import { ToolRunner } from '../../../src/browser/tools/runner.js';
import type { ClientTool, ClientTools, ToolSettings } from '../../../src/browser/tools/types.js';
import type { PendingView } from '../../../src/browser/view/types.js';
import type { ClaimVerdict } from '../../../src/protocol/calls/claims.js';
import type { Resolution, Verdict } from '../../../src/protocol/calls/resolutions.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

const LOST = new ApiError({ status: 0, code: 'unreachable', detail: 'no answer' });
const AT = '2030-01-01T00:00:00.000Z';

/** Judges claims and results of one call as conversations do, and shows it to every page. */
class SharedCall {
  readonly claims: object[] = [];
  readonly resolutions: { resolution: Resolution; requestId: string; claimId: string }[] = [];
  readonly progress: unknown[] = [];
  readonly #pages = new Set<ToolRunner>();
  #claimId: string | undefined;
  #isOpen = true;
  /** Thrown in place of answers, one after the other, after the request was taken. */
  readonly lost: (ApiError | undefined)[] = [];
  verdictOf: ((resolution: Resolution) => Verdict) | undefined;
  call: PendingView = {
    ...{ ref: 'r', toolCallId: 'a', turnId: 't1', name: 'cart.read', executor: 'client' },
    ...{ kind: 'client_execution', prompt: { currency: 'EUR' }, argsDigest: 'sha256:1' },
    ...{ openedAt: AT, deadline: AT, state: 'waiting_for_you' },
  };

  get port(): CallPort {
    return {
      conversationId: 'c1',
      claim: async (_id, { claimId }) => this.#answered(this.#claim(claimId)),
      resolve: async (_id, resolution, options) => {
        this.resolutions.push({ resolution, ...options });
        return this.#answered(this.#resolve(resolution, options));
      },
      progress: async (_id, claimId, payload) => {
        if (claimId === this.#claimId) this.progress.push(payload);
      },
    };
  }

  page(
    tools: ClientTools,
    settings: ToolSettings = {},
  ): { runner: ToolRunner; registry: ToolRegistry } {
    const registry = new ToolRegistry(tools);
    const runner = new ToolRunner(this.port, registry, { leaseMs: 60, graceMs: 50, ...settings });
    pages.push(runner);
    this.#pages.add(runner);
    runner.look(this.pending);
    return { runner, registry };
  }

  get pending(): readonly PendingView[] {
    return this.#isOpen ? [this.call] : [];
  }

  show(): void {
    for (const page of this.#pages) page.look(this.pending);
  }

  loseClaim(): void {
    const { claim: _lost, ...rest } = this.call;
    this.#claimId = undefined;
    this.call = rest;
    this.show();
  }

  end(): void {
    this.#isOpen = false;
    this.show();
  }

  #answered<Answer>(answer: Answer): Answer {
    const lost = this.lost.shift();
    if (lost !== undefined) throw lost;
    return answer;
  }

  #claim(claimId: string | undefined): ClaimVerdict {
    this.claims.push({ claimId });
    if (!this.#isOpen) return { verdict: 'stale', why: 'already_resolved', status: 'resolved' };
    if (claimId !== undefined && claimId !== this.#claimId)
      return { verdict: 'stale', why: 'not_holder', status: 'awaiting_client' };
    const until = new Date(Date.now() + 60).toISOString();
    if (claimId === undefined && this.#claimId !== undefined)
      return { verdict: 'stale', why: 'held', status: 'awaiting_client', by: 'ann', at: AT, until };
    this.#claimId ??= `claim-${this.claims.length}`;
    const claim = {
      by: 'ann',
      claimId: this.#claimId,
      at: AT,
      leaseMs: 60,
      leaseUntil: until,
      seq: 9,
    };
    this.call = { ...this.call, claim };
    queueMicrotask(() => this.show());
    return {
      verdict: 'accepted',
      toolCallId: 'a',
      claimId: this.#claimId,
      leaseUntil: until,
      seq: 9,
    };
  }

  #resolve(resolution: Resolution, { claimId }: { readonly claimId: string }): Verdict {
    if (!this.#isOpen) return { verdict: 'stale', why: 'already_resolved', status: 'resolved' };
    if (claimId !== this.#claimId)
      return { verdict: 'stale', why: 'not_holder', status: 'awaiting_client' };
    const verdict = this.verdictOf?.(resolution) ?? {
      verdict: 'accepted',
      toolCallId: 'a',
      seq: 10,
    };
    if (verdict.verdict === 'accepted') this.#isOpen = false;
    queueMicrotask(() => this.show());
    return verdict;
  }
}

const pages: ToolRunner[] = [];
afterEach(() => {
  for (const runner of pages.splice(0)) runner.stop();
});

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
    const shared = new SharedCall();
    await shared.port.claim('a', { lease: 60 });
    const { claim: _unseen, ...unclaimed } = shared.call;
    shared.call = unclaimed;
    const ran: string[] = [];
    const page = shared.page(reads(ran, 'two'));
    await until('it is refused', () => shared.claims.length === 2);
    page.runner.look(shared.pending);
    expect(ran).toEqual([]);
    // Lost, and the view does not change.
    const again = until('it is asked for again', () => shared.claims.length >= 3);
    await again;
  });

  it('keeps its claim while the function works, and stops the function when the claim is lost', async () => {
    const shared = new SharedCall();
    const stopped: string[] = [];
    shared.page({ 'cart.read': endless(stopped) });
    await until('it is renewed', () => shared.claims.length >= 4);
    expect(shared.claims.slice(1)).toEqual(
      shared.claims.slice(1).map(() => ({ claimId: 'claim-1' })),
    );
    expect(stopped).toEqual([]);
    const { claim, ...rest } = shared.call;
    shared.call = { ...rest, claim: { ...claim!, claimId: 'other' } };
    shared.show();
    expect(stopped).toEqual(['another page has claimed the call']);
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

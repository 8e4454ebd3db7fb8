/** A client call that several pages see. */
import { afterEach } from 'vitest';
import type { ApiError } from '../../../src/browser/net/problem.js';
import { ToolRegistry } from '../../../src/browser/tools/registry.js';
import type { CallPort } from '../../../src/browser/tools/run-call.js';
import { ToolRunner } from '../../../src/browser/tools/runner.js';
import type { ClientTools, ToolSettings } from '../../../src/browser/tools/types.js';
import type { PendingView } from '../../../src/browser/view/types.js';
import type { ClaimVerdict } from '../../../src/protocol/calls/claims.js';
import type { Resolution, Verdict } from '../../../src/protocol/calls/resolutions.js';

const AT = '2030-01-01T00:00:00.000Z';

/** Judges claims and results of one call as conversations do, and shows it to every page. */
export class SharedCall {
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
      pauses: { minPauseMs: 2, maxPauseMs: 10 },
      claim: async (_id, options) => this.#answered(this.#claim(options)),
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

  #claim(options: { readonly claimId?: string; readonly renewOnly?: true }): ClaimVerdict {
    const { claimId, renewOnly } = options;
    this.claims.push({ claimId, renewOnly });
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

/** Runners that are stopped after each test. */
export const pages: ToolRunner[] = [];
afterEach(() => {
  for (const runner of pages.splice(0)) runner.stop();
});

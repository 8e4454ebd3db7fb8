/** Streams of the routes end with the credentials that opened them, and no caller takes those of others. */
import { EventEmitter } from 'node:events';
import type { Request, Response } from 'express';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { CallerIdentity, CallOffers } from '../../../../../src/compat/hsafa/index.js';
import {
  MAX_STREAMS,
  OpenStreams,
  RECHECK_MS,
} from '../../../../../src/compat/hsafa/routes/open-streams.js';
import { servedRoutes } from '../../../../support/compat/hsafa-routes.js';
import { until } from '../../../../support/until.js';

const ANN: CallerIdentity = {
  ...{ tenants: ['acme', 'other'], actor: { id: 'ann', roles: ['owner'] }, verified: true },
  rights: ['answer', 'read'],
};

const offers: CallOffers = {
  offers: () => Promise.resolve(undefined),
  watchOffers: async function* (_of, { signal }) {
    yield { type: 'gone', id: 'o-1' };
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
  },
};

/** A stream that is open, and how its caller is identified from now on. */
async function opened() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const caller: { now: () => Promise<CallerIdentity | undefined> } = {
    now: () => Promise.resolve(ANN),
  };
  const base = await servedRoutes({ offers, identify: () => caller.now() });
  const response = await fetch(`${base}/api/tools/stream?tools=x`);
  expect(response.status).toBe(200);
  const state = { isOver: false };
  const text = response.text().finally(() => {
    state.isOver = true;
  });
  // Cut at the end of a test that fails.
  text.catch(() => undefined);
  return { caller, text, state };
}

describe('an open stream', () => {
  it.each<[string, CallerIdentity | undefined]>([
    ['has no valid credentials any more', undefined],
    ['has lost the right', { ...ANN, rights: ['read'] }],
    ['has lost another right', { ...ANN, rights: ['answer'] }],
    ['has lost a role', { ...ANN, actor: { id: 'ann' } }],
    ['is no verified one any more', { ...ANN, verified: false }],
    ['is of another tenant', { ...ANN, tenants: ['other', 'acme'] }],
    ['is another actor', { ...ANN, actor: { id: 'eve', roles: ['owner'] } }],
    ['is bound to a conversation', { ...ANN, conversation: 'talk' }],
  ])('ends when its caller %s', async (_title, now) => {
    const { caller, text, state } = await opened();
    caller.now = () => Promise.resolve(now);
    await vi.advanceTimersByTimeAsync(RECHECK_MS);
    await until('it has ended', () => state.isOver, { timeoutMs: 5_000 });
    expect(await text).toContain('id: o-1');
  });

  it('goes on for the same caller, also while nothing can say who that is', async () => {
    const { caller, text, state } = await opened();
    await vi.advanceTimersByTimeAsync(RECHECK_MS);
    caller.now = () => Promise.reject(new Error('away'));
    await vi.advanceTimersByTimeAsync(2 * RECHECK_MS);
    expect(state.isOver).toBe(false);
    caller.now = () => Promise.resolve(undefined);
    await vi.advanceTimersByTimeAsync(RECHECK_MS);
    await until('it has ended', () => state.isOver, { timeoutMs: 5_000 });
    expect(await text).toContain('id: o-1');
  });

  it('does not begin where its client has left while it was identified', async () => {
    const streams = new OpenStreams(() => undefined, undefined);
    const open = vi.fn(() => Promise.resolve(undefined));
    const response = Object.assign(new EventEmitter(), { closed: true });
    const over = streams.run({
      request: new EventEmitter() as unknown as Request,
      response: response as unknown as Response,
      caller: {
        ...{ tenant: 'acme', rights: ['read'] },
        actor: { id: 'ann', verified: true, channel: 'api' },
      },
      ...{ right: 'read', open },
    });
    expect(await over).toBeUndefined();
    expect(open).not.toHaveBeenCalled();
  });

  it('is one of 1,000 of its caller, and of no other', async () => {
    const streams = new OpenStreams(() => undefined, undefined);
    const begun: string[] = [];
    const run = (id: string) => {
      const response = new EventEmitter();
      const over = streams.run({
        request: new EventEmitter() as unknown as Request,
        response: response as unknown as Response,
        caller: {
          ...{ tenant: 'acme', rights: ['read'] },
          actor: { id, verified: true, channel: 'api' },
        },
        right: 'read',
        open: async (_caller, { signal }) => {
          begun.push(id);
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
          return undefined;
        },
      });
      return { over, close: () => response.emit('close') };
    };
    const all = Array.from({ length: MAX_STREAMS }, () => run('ann'));
    const refused = run('ann');
    expect(begun).toHaveLength(MAX_STREAMS);
    expect(await refused.over).toMatchObject({ status: 429 });
    all.push(run('bob'));
    expect(begun.filter((id) => id === 'bob')).toHaveLength(1);
    all[0]?.close();
    await all[0]?.over;
    all.push(run('ann'));
    expect(begun.filter((id) => id === 'ann')).toHaveLength(MAX_STREAMS + 1);
    for (const { close } of all) close();
    await Promise.all(all.map(({ over }) => over));
  });
});

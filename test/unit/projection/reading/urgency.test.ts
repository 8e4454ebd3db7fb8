import { setImmediate as nextTurnOfLoop, setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { EventBody } from '../../../../src/protocol/log/events.js';
import { tenantKey } from '../../../../src/store/ports/live.js';
import type { FakeRun } from '../../../support/fakes/fake-source.js';
import { minute, result, waits } from '../../../support/samples/list-events.js';
import {
  asks,
  closes,
  KEY,
  stamped,
  started,
  suspends,
  turn,
} from '../../../support/samples/log-events.js';
import { until } from '../../../support/until.js';
import { aProjection } from '../setup.js';

const LOG = stamped([started(), ...turn('t1'), ...turn('t2')]);

describe('events that a reader waits for while other calls run', () => {
  it('are fetched soon, together with those that come meanwhile', async () => {
    const { source, projector, stored, listen } = await aProjection();
    listen();
    const run: FakeRun = { runId: 'run-a', events: LOG.slice(0, 4) };
    source.set(run);
    projector.hint(source.hint({ urgency: 'soon' }));
    await sleep(50);
    expect(source.queries).toHaveLength(0);
    run.events = LOG;
    projector.hint(source.hint({ urgency: 'now' }));
    await until('all is stored', async () => (await stored()) === LOG.length);
    expect(source.queries).toHaveLength(1);
  });

  it('wait a quarter of a second at most, with any number of moving conversations', async () => {
    const { source, projector, live, log } = await aProjection();
    const keys = Array.from({ length: 40 }, (_, index) => ({
      ...KEY,
      conversationId: `c${index}`,
    }));
    const heard: string[] = [];
    const before = performance.now();
    for (const key of keys) {
      source.set({ runId: 'run-a', events: LOG }, key);
      live.subscribe(key, { live: true }, ({ conversationId }) => heard.push(conversationId));
      projector.hint({ ...source.hint({ seq: LOG.length }), ...key, urgency: 'soon' });
    }
    await until('all are stored', () => heard.length === keys.length);
    // Others wait for a second where forty move at once.
    expect(performance.now() - before).toBeLessThan(900);
    expect((await log.head(keys[39] ?? KEY))?.lastSeq).toBe(LOG.length);
  });
});

const CALL = { turnId: 't', toolCallId: 'call-0' };
const ANN = { id: 'ann', verified: true, channel: 'api' } as const;
const CLAIMED: EventBody = {
  ...{ type: 'claimed', ...CALL, claimId: 'one', leaseMs: 60_000 },
  ...{ requestId: 'r', actor: ANN },
};
const ANSWERED: EventBody = {
  ...{ type: 'resolution', ...CALL, kind: 'approval', requestId: 'r', actor: ANN },
  resolution: { type: 'approve' },
};

describe('events that open or end calls, while a reader follows the calls of the tenant', () => {
  /** Conversations that move at once, one of them by the event, and the time until its events are stored. */
  async function storedWithin(ms: number, body: EventBody): Promise<boolean> {
    const { source, projector, live, stored, log } = await aProjection();
    live.subscribe(tenantKey(KEY.tenant), { live: false }, () => undefined);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const others = Array.from({ length: 40 }, (_, index) => ({
      ...KEY,
      conversationId: `other-${index}`,
    }));
    for (const key of others) {
      source.set({ runId: 'run-a', events: LOG }, key);
      projector.hint({ ...source.hint({ seq: LOG.length }), ...key });
    }
    const events = stamped([started(), ...asks('t'), waits('call-0', {}), body]);
    source.set({ runId: 'run-a', events });
    const pushed = { task: 3, startedAt: 0, liveFrom: 1, events: events.slice(-1) };
    projector.hint(source.hint({ pushed }));
    await vi.advanceTimersByTimeAsync(ms);
    for (let turns = 0; turns < 200 && (await stored()) === 0; turns += 1) await nextTurnOfLoop();
    expect(await log.head(others.at(-1) ?? KEY), 'others wait').toBeUndefined();
    return (await stored()) === events.length;
  }

  it.each<[string, EventBody]>([
    ['a call that waits', suspends('t', 'call-1', { deadline: minute(9) })],
    ['a claim', CLAIMED],
    ['a lost claim', { type: 'lease_lost', ...CALL, claimId: 'one', by: 'ann' }],
    ['an answer', ANSWERED],
    ['a close', closes()],
  ])('are stored within a quarter of a second: %s', async (_title, body) => {
    expect(await storedWithin(250, body)).toBe(true);
  });

  it.each<[string, EventBody]>([
    ['the result of a call', result('call-0')],
    ['a renewed claim', { ...CLAIMED, renewal: true }],
  ])('are not hurried by other events: %s', async (_title, body) => {
    expect(await storedWithin(250, body)).toBe(false);
  });
});

/**
 * The contract of every adapter of the event log port for the leases of claims. `make` gives an empty log each time.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Suspension } from '../../../src/protocol/calls/suspensions.js';
import type { EventBody } from '../../../src/protocol/log/events.js';
import type { CallLease } from '../../../src/store/ports/leases.js';
import type { AppendBatch, EventLog } from '../../../src/store/ports/log.js';
import type { OpenCallsRead } from '../../../src/store/ports/open-calls.js';
import { asks, closes, KEY, stamped, started, suspends } from '../samples/log-events.js';
import { until } from '../until.js';

const TURN = { turnId: 't1', toolCallId: 'c' };
const CALL = { ...KEY, toolCallId: 'c' };
const ANN = { id: 'ann', verified: true, channel: 'api' } as const;
const HOUR_MS = 3_600_000;

const OFFERED: readonly EventBody[] = [
  started(),
  ...asks('t1'),
  {
    type: 'suspension',
    suspension: {
      ...TURN,
      name: 'cart.read',
      executor: 'client',
      kind: 'client_execution',
      prompt: {},
      openedAt: '2030-01-01T00:00:00.000Z',
      deadline: '2030-01-02T00:00:00.000Z',
    },
  },
];
const claims = (claimId: string, leaseMs = HOUR_MS): EventBody => ({
  type: 'claimed',
  ...TURN,
  claimId,
  leaseMs,
  requestId: claimId,
  actor: ANN,
});
const loses = (claimId: string): EventBody => ({ type: 'lease_lost', ...TURN, claimId, by: 'ann' });
const resolves: EventBody = {
  type: 'resolution',
  ...TURN,
  kind: 'client_execution',
  resolution: { type: 'result', value: 1 },
  requestId: 'r',
  actor: ANN,
};

function batch(bodies: readonly EventBody[], more: Partial<AppendBatch> = {}): AppendBatch {
  return { ...KEY, runId: 'run-a', events: stamped(bodies), ...more };
}

export function describeLeases(name: string, make: () => Promise<EventLog>): void {
  describe(name, () => {
    let log: EventLog;
    beforeEach(async () => {
      log = await make();
    });
    afterEach(async () => {
      await log.close();
    });
    const rows = (): Promise<readonly CallLease[]> => log.callLeases(KEY);

    it('accepts a holder of any name', async () => {
      const holder = 'a\u0000b \\ " \u6f22';
      const claim = { ...claims('odd'), actor: { ...ANN, id: holder } } as EventBody;
      await log.append(batch([...OFFERED, claim]));
      expect(await rows()).toMatchObject([{ holder }]);
      const renewal = { call: CALL, claimId: 'odd' };
      expect(await log.renewCallLease({ ...renewal, holder: 'a' })).toBeUndefined();
      expect(await log.renewCallLease({ ...renewal, holder })).toMatchObject({ holder });
    });
    const renew = (claimId: string, holder = 'ann', leaseMs?: number) =>
      log.renewCallLease({
        call: CALL,
        claimId,
        holder,
        ...(leaseMs === undefined ? {} : { leaseMs }),
      });
    /** Until the clock of the store says so; a claim with the shortest lease. */
    const lapsed = async (): Promise<readonly CallLease[]> =>
      await until('a lease lapses', () => log.lapsedCallLeases({ limit: 9 }), {
        holds: (leases) => leases.length > 0,
      });
    /**
     * Leases are recorded by the workflow's clock, which is in 2030 in these logs; renewals use the store's clock.
     */
    const shortLease = async (claimId: string): Promise<void> => {
      await renew(claimId, 'ann', 1);
    };

    it('has a row while the stored state has the claim', async () => {
      await log.append(batch(OFFERED));
      expect(await rows()).toEqual([]);
      const held = [...OFFERED, claims('one')];
      await log.append(batch(held));
      expect(await rows()).toEqual([
        {
          ...CALL,
          claimId: 'one',
          seq: 5,
          holder: 'ann',
          leaseMs: HOUR_MS,
          leaseUntil: '2030-01-01T01:00:05.000Z',
        },
      ]);
      await log.append(batch([...held, loses('one')]));
      expect(await rows()).toEqual([]);
      const again = [...held, loses('one'), claims('two')];
      await log.append(batch(again));
      expect(await rows()).toMatchObject([{ claimId: 'two', seq: 7 }]);
      await log.append(batch([...again, resolves]));
      expect(await rows()).toEqual([]);
    });

    it.each<[string, EventBody]>([
      ['closes', closes()],
      ['ends from outside', { type: 'run_ended', runId: 'run-a', status: 'terminated' }],
    ])('has no row when the conversation %s', async (_title, end) => {
      await log.append(batch([...OFFERED, claims('one'), end]));
      await log.append(batch([...OFFERED, claims('one')]));
      expect(await rows()).toEqual([]);
    });

    it('follows a log that is rewritten', async () => {
      await log.append(batch([...OFFERED, claims('one')]));
      const other = stamped([...OFFERED, claims('other')], { clock: 7 });
      await log.append({ ...KEY, runId: 'run-b', events: other });
      expect(await rows()).toMatchObject([{ claimId: 'other' }]);
    });

    it('moves the end of a lease for its holder only', async () => {
      await log.append(batch([...OFFERED, claims('one')]));
      const before = Date.now();
      const moved = await renew('one', 'ann', 60_000);
      const endMs = Date.parse(moved?.leaseUntil ?? '');
      expect(endMs).toBeGreaterThanOrEqual(before + 60_000 - 1_000);
      expect(endMs).toBeLessThan(before + 70_000);
      expect(await rows()).toEqual([moved]);
      expect(await renew('one', 'eve')).toBeUndefined();
      expect(await renew('two')).toBeUndefined();
      expect((await renew('one'))?.leaseMs).toBe(60_000);
    });

    it('keeps a renewal when the same events come again, and takes a recorded renewal', async () => {
      const held = [...OFFERED, claims('one')];
      await log.append(batch(held));
      const moved = await renew('one', 'ann', 60_000);
      await log.append(batch(held));
      expect(await rows()).toEqual([moved]);
      await log.append(batch([...held, { ...claims('one'), renewal: true } as EventBody]));
      expect(await rows()).toMatchObject([{ seq: 6, leaseUntil: '2030-01-01T01:00:06.000Z' }]);
    });

    it('reports a lapsed lease until its row is gone, and no longer renews it', async () => {
      await log.append(batch([...OFFERED, claims('one')]));
      expect(await log.lapsedCallLeases({ limit: 9 })).toEqual([]);
      await shortLease('one');
      const found = await lapsed();
      expect(found).toMatchObject([{ ...CALL, claimId: 'one' }]);
      expect(await renew('one')).toBeUndefined();
      expect(await log.lapsedCallLeases({ limit: 9 })).toEqual(found);
      const [lease] = found;
      if (lease === undefined) throw new Error('no lease');
      expect(await log.lapsedCallLeases({ limit: 9, after: lease })).toEqual([]);
      await log.dropCallLease({ ...lease, claimId: 'other' });
      expect(await rows()).toHaveLength(1);
      await log.dropCallLease(lease);
      expect(await rows()).toEqual([]);
    });

    it('lists a call that waits while no client holds it, with its claims and the seq of its state', async () => {
      const read = { tenant: KEY.tenant, tools: ['cart.read', 'other'], admits: ANN, limit: 9 };
      const unclaimed = (more: Partial<OpenCallsRead> = {}) =>
        log.unclaimedCalls({ ...read, kinds: ['client_execution'], ...more });
      const openedAtMs = Date.parse('2030-01-01T00:00:00.000Z');
      const offered = { ...CALL, tool: 'cart.read', generation: 1, openedAtMs };
      const held = [...OFFERED, claims('one')];
      await log.append(batch(OFFERED));
      expect(await unclaimed()).toEqual([{ ...offered, claims: 0, seq: 4 }]);
      expect(await unclaimed({ agent: 'helper' })).toHaveLength(1);
      const others = [{ agent: 'another' }, { tools: ['other'] }, { tenant: 'another' }];
      for (const other of [...others, { kinds: ['external_execution'] as const }])
        expect(await unclaimed(other)).toEqual([]);
      await log.append(batch(held));
      expect(await unclaimed()).toEqual([]);
      await log.append(batch([...held, { ...claims('one'), renewal: true } as EventBody]));
      const lost = [...held, { ...claims('one'), renewal: true } as EventBody, loses('one')];
      await log.append(batch(lost));
      expect(await unclaimed()).toEqual([{ ...offered, claims: 1, seq: 7 }]);
      const again = stamped([...held, loses('one'), claims('two'), loses('two')], { clock: 7 });
      await log.append({ ...KEY, runId: 'run-b', events: again });
      expect(await unclaimed()).toEqual([{ ...offered, generation: 2, claims: 2, seq: 8 }]);
      await log.append({ ...KEY, runId: 'run-b', events: stamped([resolves], { from: 9 }) });
      expect(await unclaimed()).toEqual([]);
    });

    it('lists the unclaimed calls that admit an actor', async () => {
      const audiences: Readonly<Record<string, Partial<Suspension>>> = {
        any: {},
        ops: { audience: { roles: ['ops'] } },
        known: { audience: { requireVerified: true } },
      };
      for (const [conversationId, audience] of Object.entries(audiences)) {
        const key = { ...KEY, conversationId };
        const call = { name: 'cart.read', kind: 'client_execution' } as const;
        const waits = suspends('t1', 'c', { ...call, ...audience });
        const events = stamped([started(key), ...asks('t1'), waits]);
        await log.append({ ...key, runId: 'r', events });
      }
      const listed = async (admits: OpenCallsRead['admits']): Promise<readonly string[]> => {
        const kinds = ['client_execution'] as const;
        const of = { tenant: KEY.tenant, tools: ['cart.read'], kinds, admits, limit: 9 };
        return (await log.unclaimedCalls(of)).map(({ conversationId }) => conversationId);
      };
      expect(await listed({ id: 'eve', verified: false })).toEqual(['any']);
      expect(await listed({ id: 'ann', verified: true })).toEqual(['any', 'known']);
      expect(await listed({ id: 'bob', roles: ['ops'], verified: false })).toEqual(['any', 'ops']);
    });

    it('lists the unclaimed calls first that end first, up to a limit', async () => {
      for (const [conversationId, hour] of Object.entries({ late: 9, soon: 2, mid: 5 })) {
        const key = { ...KEY, conversationId };
        const deadline = `2030-01-02T0${hour}:00:00.000Z`;
        const waits = suspends('t1', 'c', {
          name: 'cart.read',
          kind: 'client_execution',
          deadline,
        });
        const events = stamped([started(key), ...asks('t1'), waits]);
        await log.append({ ...key, runId: 'r', events });
      }
      const calls = await log.unclaimedCalls({
        tenant: KEY.tenant,
        tools: ['cart.read'],
        kinds: ['client_execution'],
        admits: ANN,
        limit: 2,
      });
      expect(calls.map(({ conversationId }) => conversationId)).toEqual(['soon', 'mid']);
    });

    it('restores a lapsed lease when a renewal was recorded', async () => {
      const held = [...OFFERED, claims('one')];
      await log.append(batch(held));
      await shortLease('one');
      const [lease] = await lapsed();
      await log.append(batch([...held, { ...claims('one'), renewal: true } as EventBody]));
      expect(await log.lapsedCallLeases({ limit: 9 })).toEqual([]);
      if (lease !== undefined) await log.dropCallLease(lease);
      expect(await renew('one')).toMatchObject({ claimId: 'one', seq: 6 });
    });
  });
}

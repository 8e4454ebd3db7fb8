/**
 * Lists by the actors who may resolve a call, in every adapter of the event log port: a list must agree with the
 * conversation's own verdict.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { outsideReason } from '../../../../src/core/calls/audience.js';
import type { CanonicalEvent, EventBody } from '../../../../src/protocol/log/events.js';
import type { Audience } from '../../../../src/protocol/values/audience.js';
import type { ListOptions } from '../../../../src/store/ports/lists.js';
import type { EventLog } from '../../../../src/store/ports/log.js';
import { ASKED, begins, gated, ODD, said } from '../../engine/asked-logs.js';
import { keyed, minute, result, waits } from '../../samples/list-events.js';
import { asks, stamped, started } from '../../samples/log-events.js';

const AUDIENCES: Readonly<Record<string, Audience | undefined>> = {
  anybody: undefined,
  'one user': { users: ['ann'] },
  'one role': { roles: ['lead'] },
  'a user or a role': { users: ['bo'], roles: ['lead'] },
  'all but one': { exclude: ['ann'] },
  'a role, but not one who has it': { roles: ['lead', 'ops'], exclude: ['ann', 'requester'] },
  'verified ones': { requireVerified: true },
  'verified users': { users: ['ann', 'bo'], requireVerified: true },
  'admitted by both rules': { users: ['ann', 'bo'], also: [{ roles: ['lead'] }] },
  'admitted by three rules': { roles: ['ops'], also: [{ roles: ['lead'] }, { users: ['bo'] }] },
  'an odd name': { users: [ODD] },
};
const ACTORS = ['ann', 'bo', 'requester', ODD, "o'neil"].flatMap((id) =>
  [[], ['lead'], ['ops', 'lead']].flatMap((roles) =>
    [true, false].map((verified) => ({ id, roles, verified, channel: 'api' as const })),
  ),
);

export function describeAudiences(name: string, make: () => Promise<EventLog>): void {
  describe(name, () => {
    let log: EventLog;
    beforeEach(async () => {
      log = await make();
    });
    afterEach(async () => {
      await log.close();
    });
    const store = async (id: string, events: readonly CanonicalEvent[]): Promise<void> => {
      const stored = await log.append({ ...keyed(id), runId: 'r', events });
      expect(stored.outcome).toBe('appended');
    };
    const follow = async (id: string, bodies: readonly EventBody[]): Promise<void> => {
      const head = await log.head(keyed(id));
      await store(id, stamped(bodies, { from: (head?.lastSeq ?? 0) + 1 }));
    };
    const ids = async (options: ListOptions): Promise<readonly string[]> =>
      (await log.list({ tenant: 'default', ...options })).conversations.map(
        ({ conversationId }) => conversationId,
      );
    const forWhom = async (id: string, ...roles: string[]): Promise<readonly string[]> =>
      await ids({ pendingFor: { id, roles, verified: true } });
    const asked = async (id: string, audience?: Audience): Promise<void> => {
      const suspension = waits('call-0', {
        name: 'pay',
        deadline: minute(10),
        ...(audience === undefined ? {} : { audience }),
      });
      await store(id, stamped([started(keyed(id)), ...asks('t'), suspension]));
    };

    it.each(Object.entries(AUDIENCES))(
      'admits the actors that the conversation would admit: %s',
      async (_, audience) => {
        await asked('it', audience);
        for (const actor of ACTORS) {
          const { id, roles, verified } = actor;
          const admits = audience === undefined || outsideReason(audience, actor, []) === undefined;
          expect([actor, await ids({ pendingFor: { id, roles, verified } })]).toEqual([
            actor,
            admits ? ['it'] : [],
          ]);
        }
      },
    );

    it.each(Object.entries(ASKED))(
      'admits the actors that the conversation would admit where the call was asked for %s',
      async (_, [bodies, requesters]) => {
        for (const body of [started(keyed('it')), ...bodies]) await follow('it', [body]);
        const { audience } = (await log.head(keyed('it')))?.snapshot.pending[0] ?? {};
        if (audience === undefined) throw new TypeError('no call waits');
        for (const id of ['ann', 'bo', 'cat', 'requester', ODD]) {
          const actor = { id, roles: ['lead', 'ops'], verified: true };
          const admits = outsideReason(audience, actor, requesters) === undefined;
          expect([id, await ids({ pendingFor: actor })]).toEqual([id, admits ? ['it'] : []]);
        }
      },
    );

    it('uses the requesters in the log as it was rewritten', async () => {
      const log0 = [started(keyed('it')), said('t', 'ann'), begins('t'), gated('t')];
      const log1 = [started(keyed('it')), said('t', 'bo'), begins('t'), gated('t')];
      await store('it', stamped(log0));
      const { outcome } = await log.append({ ...keyed('it'), runId: 'r2', events: stamped(log1) });
      expect(outcome).toBe('rewritten');
      expect([await forWhom('ann'), await forWhom('bo')]).toEqual([['it'], []]);
    });

    it('combines with the other filters, counts only calls that admit the actor, and keeps the order by deadline', async () => {
      await asked('anybody');
      await asked('ann', { users: ['ann'] });
      await asked('leads', { roles: ['lead'] });
      const mine = waits('call-1', {
        name: 'mail',
        deadline: minute(1),
        audience: { users: ['ann'] },
      });
      const theirs = waits('call-2', {
        name: 'pay',
        deadline: minute(5),
        audience: { users: ['bo'] },
      });
      await store('both', stamped([started(keyed('both')), ...asks('t'), mine, theirs]));
      expect(await forWhom('ann')).toEqual(['both', 'anybody', 'ann']);
      expect(await forWhom('bo', 'lead')).toEqual(['both', 'anybody', 'leads']);
      expect(await ids({ pendingFor: { id: 'ann', verified: true }, pendingTool: 'pay' })).toEqual([
        'anybody',
        'ann',
      ]);
      expect(
        await ids({ pendingFor: { id: 'bo', verified: true }, deadlineBefore: minute(5) }),
      ).toEqual([]);
      const first = await log.list({
        tenant: 'default',
        limit: 2,
        pendingFor: { id: 'ann', verified: true },
      });
      expect(
        await ids({
          pendingFor: { id: 'ann', verified: true },
          ...(first.nextCursor === undefined ? {} : { cursor: first.nextCursor }),
        }),
      ).toEqual(['ann']);
      await follow('ann', [result('call-0')]);
      expect(await forWhom('ann')).toEqual(['both', 'anybody']);
    });

    it('follows a call whose audience changes with its phase', async () => {
      await asked('it', { users: ['ann'] });
      await follow('it', [
        waits('call-0', { name: 'pay', deadline: minute(10), audience: { users: ['bo'] } }),
      ]);
      expect([await forWhom('ann'), await forWhom('bo')]).toEqual([[], ['it']]);
    });
  });
}

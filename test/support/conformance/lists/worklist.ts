/** The contract of the worklist in every adapter of the event log port. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mayAnswer } from '../../../../src/core/view/worklist.js';
import type { Suspension } from '../../../../src/protocol/calls/suspensions.js';
import type { CanonicalEvent, EventBody } from '../../../../src/protocol/log/events.js';
import { MAX_COUNTED_CALLS, MAX_PREVIEW_CHARS } from '../../../../src/protocol/log/worklist.js';
import { actorFrom } from '../../../../src/protocol/values/actors.js';
import { wellFormed } from '../../../../src/protocol/values/well-formed.js';
import type { EventLog } from '../../../../src/store/ports/log.js';
import type { WorklistRequest } from '../../../../src/store/ports/worklist.js';
import { ASKED, begins, ODD, said } from '../../engine/asked-logs.js';
import { keyed, minute, result, waits } from '../../samples/list-events.js';
import { stamped, started } from '../../samples/log-events.js';

/** A conversation that Ann asked for, with these calls. */
function waiting(
  id: string,
  calls: readonly (readonly [string, number, Partial<Suspension>?])[],
  tenant = 'default',
) {
  const suspensions = calls.map(([name, minutes, more = {}], index) =>
    waits(`call-${index}`, { name, deadline: minute(minutes), ...more }),
  );
  return stamped([started(keyed(id, tenant)), said('t', 'ann'), begins('t'), ...suspensions]);
}

function claims(toolCallId: string, by: string): EventBody {
  const claim = { claimId: `of-${by}`, leaseMs: 60_000, actor: actorFrom({ id: by }) };
  return { type: 'claimed', turnId: 't', toolCallId, requestId: `r-${by}`, ...claim };
}

export function describeWorklist(name: string, make: () => Promise<EventLog>): void {
  describe(name, () => {
    let log: EventLog;
    beforeEach(async () => {
      log = await make();
    });
    afterEach(async () => {
      await log.close();
    });

    const store = async (
      id: string,
      events: readonly CanonicalEvent[],
      tenant = 'default',
    ): Promise<void> => {
      const stored = await log.append({ ...keyed(id, tenant), runId: 'r', events });
      expect(stored.outcome).toBe('appended');
    };
    const follow = async (id: string, bodies: readonly EventBody[]): Promise<void> => {
      const head = await log.head(keyed(id));
      await store(id, stamped(bodies, { from: (head?.lastSeq ?? 0) + 1 }));
    };
    const read = async (request: Partial<WorklistRequest> = {}) =>
      await log.waiting({ tenant: 'default', ...request });
    const calls = async (request: Partial<WorklistRequest> = {}): Promise<readonly string[]> =>
      (await read(request)).items.map((item) => `${item.conversationId}/${item.toolCallId}`);
    const person = (id: string, ...roles: string[]) => ({ id, roles, verified: false });

    it('has an item for each waiting call, with all that a list shows', async () => {
      const more = {
        title: 'Pay a bill',
        risk: 'high',
        reason: 'much',
        argsDigest: 'sha256:1',
      } as const;
      await store(
        'c',
        waiting('c', [
          ['pay', 10, more],
          ['mail', 5],
        ]),
      );
      const { items } = await read();
      expect(items).toEqual([
        expect.objectContaining({ toolCallId: 'call-1', tool: 'mail', requesters: ['ann'] }),
        {
          ref: 'default~c~call-0',
          ...{ tenant: 'default', conversationId: 'c', toolCallId: 'call-0', turnId: 't' },
          ...{ tool: 'pay', agent: 'helper', executor: 'server', kind: 'approval', ...more },
          ...{ openedAt: '2030-01-01T00:00:00.000Z', deadline: minute(10), requesters: ['ann'] },
          preview: '{"amount":5}',
        },
      ]);
      expect(items[0]).not.toHaveProperty('title');
    });

    it('cuts what would make an item large', async () => {
      await store('c', waiting('c', [['pay', 1, { prompt: 'x'.repeat(50_000) }]]));
      const [item] = (await read()).items;
      expect(item?.preview).toBe(`"${'x'.repeat(MAX_PREVIEW_CHARS - 1)}`);
      expect(item?.previewCut).toBe(true);
    });

    it('filters by tool, agent, kind, risk, requester and deadline, and by all together', async () => {
      await store(
        'a',
        waiting('a', [
          ['pay', 10, { risk: 'high' }],
          ['mail', 20, { risk: 'low' }],
        ]),
      );
      await store('b', waiting('b', [['pay', 30, { kind: 'elicitation', agent: 'clerk' }]]));
      await follow('b', [said('t', 'bo', 'steer')]);
      await store('c', waiting('c', [['pay', 1]], 'other'), 'other');
      expect(await calls()).toEqual(['a/call-0', 'a/call-1', 'b/call-0']);
      expect(await calls({ tool: 'pay' })).toEqual(['a/call-0', 'b/call-0']);
      expect(await calls({ agent: 'clerk' })).toEqual(['b/call-0']);
      expect(await calls({ agent: 'helper' })).toEqual(['a/call-0', 'a/call-1']);
      expect(await calls({ kind: 'elicitation' })).toEqual(['b/call-0']);
      expect(await calls({ risk: 'low' })).toEqual(['a/call-1']);
      expect(await calls({ requester: 'bo' })).toEqual(['b/call-0']);
      expect(await calls({ requester: 'ann' })).toHaveLength(3);
      expect(await calls({ requester: "o'neil" })).toEqual([]);
      expect(await calls({ deadlineBefore: minute(20) })).toEqual(['a/call-0']);
      expect(
        await calls({ tool: 'pay', risk: 'high', requester: 'ann', kind: 'approval' }),
      ).toEqual(['a/call-0']);
      expect(await calls({ tenant: 'other' })).toEqual(['c/call-0']);
      await expect(read({ deadlineBefore: 'soon' })).rejects.toThrow(RangeError);
    });

    it('follows calls that end, move, are claimed, lose their claim, and logs that are rewritten', async () => {
      await store(
        'a',
        waiting('a', [
          ['pay', 10, { kind: 'client_execution' }],
          ['mail', 20],
        ]),
      );
      await follow('a', [claims('call-0', 'bo')]);
      const held = { toolCallId: 'call-0', claim: { by: 'bo' } };
      expect((await read()).items[0]).toMatchObject(held);
      expect(await calls({ mayAnswer: person('bo') })).toEqual(['a/call-0', 'a/call-1']);
      expect(await calls({ mayAnswer: person('cat') })).toEqual(['a/call-1']);
      await follow('a', [waits('call-1', { name: 'mail', deadline: minute(1) })]);
      expect(await calls()).toEqual(['a/call-1', 'a/call-0']);
      await follow('a', [result('call-1')]);
      expect(await calls()).toEqual(['a/call-0']);
      const log1 = [started(keyed('a')), said('t', 'bo'), begins('t'), waits('call-7', {})];
      const { outcome } = await log.append({ ...keyed('a'), runId: 'r2', events: stamped(log1) });
      expect(outcome).toBe('rewritten');
      expect((await read()).items).toMatchObject([{ toolCallId: 'call-7', requesters: ['bo'] }]);
      await log.beginDeletion({ ...keyed('a'), runIds: ['r', 'r2'] });
      expect(await calls()).toEqual([]);
    });

    it.each(Object.entries(ASKED))(
      'names the actors who asked for the call %s, and lists it for those who may answer',
      async (_, [bodies, requesters]) => {
        for (const body of [started(keyed('it')), ...bodies]) await follow('it', [body]);
        const [item] = (await read()).items;
        if (item === undefined) throw new TypeError('no call waits');
        expect(item.requesters).toEqual(requesters.map(wellFormed));
        for (const id of ['ann', 'bo', 'cat', 'requester', wellFormed(ODD)]) {
          const actor = { id, roles: ['lead', 'ops'], verified: true };
          const admits = mayAnswer(item, actor).mayAnswer;
          expect([id, await calls({ mayAnswer: actor })]).toEqual([
            id,
            admits ? ['it/call-0'] : [],
          ]);
        }
      },
    );

    it('keeps names that the database cannot hold as text', async () => {
      const audience = { users: [ODD] };
      const bodies = [started(keyed('c')), said('t', ODD), begins('t'), waits('x', { audience })];
      await store('c', stamped(bodies));
      const [item] = (
        await read({ mayAnswer: { id: ODD, verified: false }, requester: wellFormed(ODD) })
      ).items;
      expect(item).toMatchObject({ audience, requesters: [wellFormed(ODD)] });
    });

    it('neither repeats nor skips from page to page, also where deadlines are equal', async () => {
      const same: [string, number][] = [
        ['pay', 60],
        ['pay', 60],
        ['pay', 60],
      ];
      for (const id of ['e1', 'e2', 'e3']) await store(id, waiting(id, same));
      const seen: string[] = [];
      for (let cursor: string | undefined; ; ) {
        const page = await read({ limit: 2, ...(cursor === undefined ? {} : { cursor }) });
        seen.push(...page.items.map((item) => `${item.conversationId}/${item.toolCallId}`));
        cursor = page.nextCursor;
        if (cursor === undefined) break;
        await store(`x${seen.length}`, waiting(`x${seen.length}`, [['pay', 1]]));
      }
      const all = ['e1', 'e2', 'e3'].flatMap((id) => [0, 1, 2].map((n) => `${id}/call-${n}`));
      expect(seen).toEqual(all);
    });

    it.each(['', 'x', '12', 'd1.2', 'd1.2.', 'd1.2.AA', 'd1.x.YQ'])(
      'refuses %j, which is no cursor of it',
      async (cursor) => {
        await expect(read({ cursor })).rejects.toThrow(RangeError);
      },
    );

    it('counts what matches, by tool and by risk', async () => {
      await store(
        'a',
        waiting('a', [
          ['pay', 10, { risk: 'high' }],
          ['mail', 20],
        ]),
      );
      await store('b', waiting('b', [['pay', 30, { risk: 'high', audience: { users: ['bo'] } }]]));
      const count = async (request: Partial<WorklistRequest>) =>
        await log.countWaiting({ tenant: 'default', ...request });
      expect(await count({})).toEqual({
        total: 3,
        byTool: { pay: 2, mail: 1 },
        byRisk: { low: 0, medium: 0, high: 2, none: 1 },
      });
      expect(await count({ mayAnswer: person('cat'), risk: 'high' })).toMatchObject({ total: 1 });
      expect(await count({ tenant: 'other' })).toMatchObject({ total: 0, byTool: {} });
    });

    it('says so when it does not count them all', async () => {
      const perConversation = 500;
      const many = Array.from({ length: perConversation }, (): [string, number] => ['pay', 1]);
      for (let n = 0; n * perConversation <= MAX_COUNTED_CALLS; n += 1)
        await store(`m${n}`, waiting(`m${n}`, many));
      const counts = await log.countWaiting({ tenant: 'default' });
      expect(counts).toMatchObject({ total: MAX_COUNTED_CALLS, capped: true });
    });
  });
}

/**
 * The contract of lists, of pages towards the start, and of the sweep's reads in every adapter of the event log port.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Suspension } from '../../../../src/protocol/calls/suspensions.js';
import type { CanonicalEvent, EventBody } from '../../../../src/protocol/log/events.js';
import type { ListOptions } from '../../../../src/store/ports/lists.js';
import type { EventLog } from '../../../../src/store/ports/log.js';
import { keyed, minute, result, waits } from '../../samples/list-events.js';
import {
  answers,
  asks,
  closes,
  KEY,
  outline,
  stamped,
  started,
  turn,
} from '../../samples/log-events.js';

const LOG = stamped([started(), ...turn('t1'), ...turn('t2')]);

/** A conversation with pending calls: `[tool, minutes until the deadline, kind?]` each. */
function parked(
  conversationId: string,
  calls: readonly (readonly [string, number, Suspension['kind']?])[],
): readonly CanonicalEvent[] {
  const suspensions = calls.map(([name, minutes, kind = 'approval'], index) =>
    waits(`call-${index}`, { name, kind, deadline: minute(minutes) }),
  );
  return stamped([started(keyed(conversationId)), ...asks('t'), ...suspensions]);
}

export function describeLists(name: string, make: () => Promise<EventLog>): void {
  describe(name, () => {
    let log: EventLog;
    beforeEach(async () => {
      log = await make();
    });
    afterEach(async () => {
      await log.close();
    });

    const store = async (
      conversationId: string,
      events: readonly CanonicalEvent[],
      tenant = 'default',
    ): Promise<void> => {
      const stored = await log.append({ ...keyed(conversationId, tenant), runId: 'r', events });
      expect(stored.outcome).toBe('appended');
    };
    const ids = async (options: ListOptions): Promise<readonly string[]> =>
      (await log.list({ tenant: 'default', ...options })).conversations.map(
        ({ conversationId }) => conversationId,
      );
    const follow = async (conversationId: string, bodies: readonly EventBody[]): Promise<void> => {
      const head = await log.head(keyed(conversationId));
      const from = (head?.lastSeq ?? 0) + 1;
      await store(conversationId, stamped(bodies, { from }));
    };

    it('lists by status find a detached call, and lists of active conversations those that are open and wait for no answer', async () => {
      const aside = waits('call-0', { turnId: 't', detached: true });
      await store('aside', stamped([started(keyed('aside')), ...turn('t'), aside]));
      await store('waits', parked('waits', [['pay', 10]]));
      await store('idle', stamped([started(keyed('idle')), ...turn('t2')]));
      await store('closed', stamped([started(keyed('closed')), closes()]));
      expect(await ids({ tenant: 'default', status: 'awaiting_input' })).toEqual([
        'waits',
        'aside',
      ]);
      expect(await ids({ tenant: 'default', status: 'idle' })).toEqual(['idle']);
      expect(await ids({ tenant: 'default', status: 'active' })).toEqual(['idle']);
      const pays = { tenant: 'default', pendingTool: 'pay' };
      expect(await ids({ ...pays, status: 'awaiting_input' })).toContain('waits');
      expect(await ids({ ...pays, status: 'active' })).toEqual([]);
    });

    it('lists name a conversation by the beginning of its first message, also after others', async () => {
      const titles = async (): Promise<readonly (string | undefined)[]> =>
        (await log.list({ tenant: 'default' })).conversations.map(({ title }) => title);
      await store('c1', stamped([started(keyed('c1'))]));
      expect(await titles()).toEqual([undefined]);
      await follow('c1', [...asks('t1', ' Refund\n\tp_1\u0000 \u202e please '), ...answers('t1')]);
      expect(await titles()).toEqual(['Refund p_1 please']);
      await follow('c1', [...asks('t2', 'Another'), closes(), started(keyed('c1'))]);
      expect(await titles()).toEqual(['Refund p_1 please']);
      // Another first message: the log is rewritten, and its title with it.
      const rewritten = stamped([started(keyed('c1')), ...asks('t3', 'x'.repeat(90))]);
      const key = keyed('c1');
      const stored = await log.append({ ...key, runId: 'r2', events: rewritten });
      expect(stored.outcome).toBe('rewritten');
      expect(await titles()).toEqual([`${'x'.repeat(79)}…`]);
      expect((await log.head(key))?.snapshot.title).toBe(`${'x'.repeat(79)}…`);
    });

    describe('lists by pending calls', () => {
      beforeEach(async () => {
        await store('late', parked('late', [['pay', 90]]));
        await store('soon', parked('soon', [['pay', 10]]));
        await store(
          'two',
          parked('two', [
            ['mail', 5],
            ['pay', 60, 'client_execution'],
          ]),
        );
        await store('none', stamped([started(keyed('none')), ...turn('t')]));
      });

      it('begin with the call of the tool that expires earliest', async () => {
        expect(await ids({ pendingTool: 'pay' })).toEqual(['soon', 'two', 'late']);
        expect(await ids({ pendingTool: 'mail' })).toEqual(['two']);
        expect(await ids({ pendingTool: 'nothing' })).toEqual([]);
      });

      it('filter by kind, by deadline, and by all together', async () => {
        expect(await ids({ pendingKind: 'client_execution' })).toEqual(['two']);
        expect(await ids({ deadlineBefore: minute(60) })).toEqual(['two', 'soon']);
        expect(await ids({ deadlineBefore: minute(60), pendingTool: 'pay' })).toEqual(['soon']);
        expect(await ids({ deadlineBefore: minute(61), pendingKind: 'approval' })).toEqual([
          'two',
          'soon',
        ]);
        expect(await ids({ deadlineBefore: minute(0) })).toEqual([]);
        expect(
          await ids({ pendingTool: 'pay', agent: 'helper', status: 'awaiting_input' }),
        ).toEqual(['soon', 'two', 'late']);
        expect(await ids({ pendingTool: 'pay', agent: 'nobody' })).toEqual([]);
        expect(await ids({ pendingTool: 'pay', tenant: 'other' })).toEqual([]);
      });

      it('follow calls that end, deadlines that move, and logs that are rewritten', async () => {
        await follow('two', [result('call-0')]);
        expect(await ids({ deadlineBefore: minute(100) })).toEqual(['soon', 'two', 'late']);
        await follow('soon', [waits('call-0', { name: 'pay', deadline: minute(200) })]);
        expect(await ids({ pendingTool: 'pay' })).toEqual(['two', 'late', 'soon']);
        const other = stamped([started(keyed('late'), 'chain1'), ...asks('t9')], { clock: 7 });
        const rewritten = await log.append({ ...keyed('late'), runId: 'r2', events: other });
        expect(rewritten.outcome).toBe('rewritten');
        expect(await ids({ pendingTool: 'pay' })).toEqual(['two', 'soon']);
        await follow('two', [closes()]);
        expect(await ids({ pendingTool: 'pay' })).toEqual(['soon']);
      });

      it('neither repeat nor skip under writes between pages, also where deadlines are equal', async () => {
        for (const id of ['e1', 'e2', 'e3']) await store(id, parked(id, [['pay', 60]]));
        const seen: string[] = [];
        let cursor: string | undefined;
        do {
          const page = await log.list({
            tenant: 'default',
            pendingTool: 'pay',
            limit: 2,
            ...(cursor === undefined ? {} : { cursor }),
          });
          seen.push(...page.conversations.map(({ conversationId }) => conversationId));
          cursor = page.nextCursor;
          await store(`x${seen.length}`, parked(`x${seen.length}`, [['pay', 1]]));
        } while (cursor !== undefined);
        expect(seen).toEqual(['soon', 'two', 'e1', 'e2', 'e3', 'late']);
      });

      it('refuse a cursor of a list in another order, and a malformed deadline', async () => {
        const { nextCursor = '' } = await log.list({ limit: 1 });
        expect(nextCursor).not.toBe('');
        await expect(log.list({ pendingTool: 'pay', cursor: nextCursor })).rejects.toThrow(
          RangeError,
        );
        const { nextCursor: byDeadline = '' } = await log.list({ pendingTool: 'pay', limit: 1 });
        await expect(log.list({ cursor: byDeadline })).rejects.toThrow(RangeError);
        await expect(log.list({ deadlineBefore: 'soon' })).rejects.toThrow(RangeError);
      });
    });

    describe('pages towards the start', () => {
      it('give the newest first, and meet without a gap', async () => {
        await store('c1', LOG);
        const first = await log.read(KEY, { beforeSeq: Number.MAX_SAFE_INTEGER, limit: 4 });
        expect(outline(first?.events ?? [])).toEqual(outline(LOG.slice(-4).reverse()));
        expect([first?.more, first?.lastSeq]).toEqual([true, LOG.length]);
        const rest = await log.read(KEY, { beforeSeq: first?.events.at(-1)?.seq ?? 0 });
        expect(rest?.events).toEqual(LOG.slice(0, -4).reverse());
        expect(rest?.more).toBe(false);
        expect(await log.read(KEY, { beforeSeq: 1 })).toMatchObject({ events: [], more: false });
      });

      it('are cut by bytes, but give at least one event', async () => {
        await store('c1', LOG);
        const end = Number.MAX_SAFE_INTEGER;
        const bytes = Buffer.byteLength(JSON.stringify(LOG.at(-1)));
        const bytesBefore = Buffer.byteLength(JSON.stringify(LOG.at(-2)));
        expect(
          (await log.read(KEY, { beforeSeq: end, maxBytes: bytes + bytesBefore }))?.events,
        ).toEqual(LOG.slice(-2).reverse());
        const one = await log.read(KEY, { beforeSeq: end, maxBytes: 1 });
        expect(one).toMatchObject({ events: [LOG.at(-1)], more: true });
      });

      it('end with the marker of a log that was rewritten', async () => {
        await store('c1', LOG);
        const other = stamped([started(KEY, 'chain1'), ...asks('t9')], { clock: 9 });
        await log.append({ ...KEY, runId: 'run-b', events: other });
        const read = await log.read(KEY, { beforeSeq: 3 });
        expect(outline(read?.events ?? [])).toEqual([
          '2:user_message',
          '1:conversation_started',
          '0:log_rewritten',
        ]);
        expect(read?.more).toBe(false);
      });
    });

    describe("the sweep's reads", () => {
      it('find the conversations with recent appends, oldest append first, page by page', async () => {
        for (const id of ['a', 'b', 'c'])
          await store(id, stamped([started(keyed(id)), ...turn(`t${id}`)]));
        await follow('c', [closes()]);
        await follow('a', asks('more'));
        const all = await log.recentHeads({ limit: 9, withinMs: 60_000 });
        expect(all.map(({ conversationId }) => conversationId).sort()).toEqual(['a', 'b']);
        const times = all.map(({ changedAtMs }) => changedAtMs);
        expect(times).toEqual([...times].sort((left, right) => left - right));
        const [first] = await log.recentHeads({ limit: 1, withinMs: 60_000 });
        expect(first).toEqual(all[0]);
        const rest = await log.recentHeads({
          limit: 9,
          withinMs: 60_000,
          ...(first === undefined ? {} : { after: first }),
        });
        expect(rest).toEqual(all.slice(1));
        expect(await log.recentHeads({ limit: 9, withinMs: -60_000 })).toEqual([]);
      });

      it('find in one statement the conversations that are not open, or not stored', async () => {
        await store('open', stamped([started(keyed('open'))]));
        await store('closed', stamped([started(keyed('closed')), closes()]));
        const asked = ['open', 'closed', 'unknown'].map((id) => keyed(id));
        const found = await log.notOpen([...asked, keyed('open', 'other')]);
        expect(
          found.map(({ tenant, conversationId }) => `${tenant}/${conversationId}`).sort(),
        ).toEqual(['default/closed', 'default/unknown', 'other/open']);
        expect(await log.notOpen([])).toEqual([]);
        await store('gone', stamped([started(keyed('gone'))]));
        await log.beginDeletion({ ...keyed('gone'), runIds: [] });
        const unknown = await log.unknown([...asked, keyed('gone'), keyed('open', 'other')]);
        expect(
          unknown.map(({ tenant, conversationId }) => `${tenant}/${conversationId}`).sort(),
        ).toEqual(['default/unknown', 'other/open']);
        expect(await log.unknown([])).toEqual([]);
      });

      it('find the conversations that were closed before a time, longest ago first', async () => {
        const closed = (id: string, clock: number) =>
          stamped([started(keyed(id)), closes()], { clock });
        await store('b', closed('b', 60_000));
        await store('a', closed('a', 0));
        await store('open', stamped([started(keyed('open'))]));
        await store('again', closed('again', 0));
        await follow('again', [started(keyed('again'))]);
        const at = (second: number): number => Date.parse('2030-01-01T00:00:00Z') + second * 1000;
        const ask = async (second: number, limit = 9) =>
          (await log.closedBefore({ closedBeforeMs: at(second), limit })).map(
            ({ conversationId, closedAtMs }) => [conversationId, closedAtMs],
          );
        expect(await ask(100)).toEqual([
          ['a', at(2)],
          ['b', at(62)],
        ]);
        expect(await ask(100, 1)).toEqual([['a', at(2)]]);
        expect(await ask(2)).toEqual([]);
        await store('c', closed('c', 60_000));
        const all = await log.closedBefore({ closedBeforeMs: at(100), limit: 9 });
        for (const [nth, after] of all.entries())
          expect(await log.closedBefore({ closedBeforeMs: at(100), limit: 9, after })).toEqual(
            all.slice(nth + 1),
          );
        expect(all).toHaveLength(3);
      });
    });
  });
}

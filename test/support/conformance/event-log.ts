/** The contract of every adapter of the event log port. `make` gives an empty log each time. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { foldView } from '../../../src/core/view/view.js';
import type { CanonicalEvent, EventBody } from '../../../src/protocol/log/events.js';
import type { ConversationKey } from '../../../src/protocol/values/ids.js';
import type { AppendBatch, EventLog } from '../../../src/store/ports/log.js';
import {
  asks,
  closes,
  KEY,
  outline,
  stamped,
  started,
  suspends,
  turn,
} from '../samples/log-events.js';

const LOG = stamped([started(), ...turn('t1'), ...turn('t2')]);

function batch(events: readonly CanonicalEvent[], more: Partial<AppendBatch> = {}): AppendBatch {
  return { ...KEY, runId: 'run-a', events, ...more };
}

function keyed(conversationId: string, tenant = 'default'): ConversationKey {
  return { tenant, conversationId };
}

function startOf(key: ConversationKey): AppendBatch {
  return { ...key, runId: 'run-a', events: stamped([started(key)]) };
}

export function describeEventLog(name: string, make: () => Promise<EventLog>): void {
  describe(name, () => {
    let log: EventLog;
    beforeEach(async () => {
      log = await make();
    });
    afterEach(async () => {
      await log.close();
    });

    describe('appending', () => {
      it('stores events and their fold as the snapshot', async () => {
        const result = await log.append(batch(LOG, { historyLength: 12 }));
        expect(result).toMatchObject({ outcome: 'appended', added: LOG.length });
        const view = LOG.reduce(foldView, undefined);
        expect(await log.head(KEY)).toEqual({
          ...KEY,
          generation: 1,
          lastSeq: LOG.length,
          runId: 'run-a',
          historyLength: 12,
          snapshot: { ...view, title: 'hello', generation: 1 },
        });
        expect((await log.read(KEY))?.events).toEqual(LOG);
      });

      it('gives the same snapshot however the events were cut into batches', async () => {
        for (const event of LOG) await log.append(batch([event]));
        expect((await log.head(KEY))?.snapshot).toEqual({
          ...LOG.reduce(foldView, undefined),
          title: 'hello',
          generation: 1,
        });
      });

      it('adds nothing when the same events come again', async () => {
        await log.append(batch(LOG));
        expect(await log.append(batch(LOG))).toMatchObject({ outcome: 'appended', added: 0 });
        expect(await log.append(batch(LOG.slice(2, 5)))).toMatchObject({ added: 0 });
        expect((await log.read(KEY))?.events).toEqual(LOG);
      });

      it('takes the part of an overlapping batch that is new', async () => {
        await log.append(batch(LOG.slice(0, 6)));
        expect(await log.append(batch(LOG.slice(3)))).toMatchObject({ added: LOG.length - 6 });
        expect((await log.read(KEY))?.events).toEqual(LOG);
      });

      it('takes events for the same in any order of their fields', async () => {
        await log.append(batch(LOG));
        const shuffled = LOG.map(
          (event) =>
            Object.fromEntries(Object.entries(event).reverse()) as unknown as CanonicalEvent,
        );
        expect(await log.append(batch(shuffled))).toMatchObject({ outcome: 'appended', added: 0 });
      });

      it('refuses a batch that would leave a gap and returns where the log ends', async () => {
        expect(await log.append(batch(LOG.slice(1)))).toEqual({ outcome: 'gap', lastSeq: 0 });
        expect(await log.head(KEY)).toBeUndefined();
        await log.append(batch(LOG.slice(0, 3)));
        expect(await log.append(batch(LOG.slice(4)))).toEqual({ outcome: 'gap', lastSeq: 3 });
        expect((await log.head(KEY))?.lastSeq).toBe(3);
      });

      it('stores a batch that names an expected head only while that is the head', async () => {
        await log.append(batch(LOG.slice(0, 3)));
        const onlyAt = { generation: 1, runId: 'run-a', lastSeq: 3 };
        const next = LOG.slice(3, 4);
        for (const other of [{ generation: 2 }, { runId: 'run-b' }, { lastSeq: 2 }])
          expect(await log.append(batch(next, { onlyAt: { ...onlyAt, ...other } }))).toEqual({
            outcome: 'gap',
            lastSeq: 3,
          });
        expect(await log.append(batch(next, { onlyAt }))).toMatchObject({ added: 1 });
        expect(await log.append(batch(next, { onlyAt }))).toEqual({ outcome: 'gap', lastSeq: 4 });
      });

      it('stores nothing of a batch that is not dense', async () => {
        const holed = LOG.filter((event) => event.seq !== 3);
        await expect(log.append(batch(holed))).rejects.toThrow('dense');
        expect(await log.head(KEY)).toBeUndefined();
      });

      it('records the run that confirms the end of the log, and drops the length of the other run', async () => {
        await log.append(batch(LOG, { historyLength: 40 }));
        await log.append(batch(LOG.slice(-1), { runId: 'run-b' }));
        expect(await log.head(KEY)).toMatchObject({ runId: 'run-b', historyLength: 0 });
        await log.append(batch(LOG.slice(0, 2), { runId: 'run-late' }));
        expect(await log.head(KEY)).toMatchObject({ runId: 'run-b' });
      });
    });

    describe('rewriting', () => {
      const OTHER = stamped([...turn('t2', 'another')], { from: 7, clock: 500 });

      it('opens a new generation where the same seq comes with other content', async () => {
        await log.append(batch(LOG));
        const result = await log.append(batch([...LOG.slice(4, 6), ...OTHER], { runId: 'run-b' }));
        expect(result).toMatchObject({ outcome: 'rewritten', added: 5 });
        const read = await log.read(KEY);
        expect(read?.generation).toBe(2);
        expect(read?.events[0]).toMatchObject({
          type: 'log_rewritten',
          seq: 0,
          previousGeneration: 1,
          divergedAtSeq: 7,
        });
        expect(read?.events.slice(1)).toEqual([...LOG.slice(0, 6), ...OTHER]);
        const view = [...LOG.slice(0, 6), ...OTHER].reduce(foldView, undefined);
        expect(await log.head(KEY)).toMatchObject({
          generation: 2,
          lastSeq: 11,
          runId: 'run-b',
          snapshot: { ...view, generation: 2 },
        });
      });

      it('keeps the earlier generation readable', async () => {
        await log.append(batch(LOG));
        await log.append(batch(OTHER, { runId: 'run-b' }));
        expect((await log.read(KEY, { generation: 1 }))?.events).toEqual(LOG);
        expect(await log.read(KEY, { generation: 3 })).toBeUndefined();
      });

      it('replaces the whole log when another first event comes', async () => {
        await log.append(batch(LOG));
        const restarted = stamped([started(KEY, 'chain1'), ...asks('t9')], { clock: 9 });
        await log.append(batch(restarted, { runId: 'run-b' }));
        const read = await log.read(KEY);
        expect(outline(read?.events ?? [])).toEqual([
          '0:log_rewritten',
          '1:conversation_started',
          '2:user_message',
          '3:turn_started',
        ]);
        expect((await log.head(KEY))?.snapshot).toMatchObject({ seq: 3, turn: { turnId: 't9' } });
      });

      it('appends to the newest generation, and rewrites it again when it must', async () => {
        await log.append(batch(LOG));
        await log.append(batch(OTHER, { runId: 'run-b' }));
        const later = stamped([closes()], { from: 12 });
        expect(await log.append(batch(later))).toMatchObject({ outcome: 'appended', added: 1 });
        const third = await log.append(batch(LOG.slice(6), { runId: 'run-c' }));
        expect(third).toMatchObject({ outcome: 'rewritten', head: { generation: 3, lastSeq: 11 } });
        expect((await log.read(KEY))?.events.slice(1)).toEqual(LOG);
      });

      it('cuts off the events that a reset run does not have, while the head is the one that was compared', async () => {
        await log.append(batch(LOG));
        const head = { generation: 1, runId: 'run-a', lastSeq: LOG.length };
        const cut = batch(LOG.slice(0, 4), { runId: 'run-b', cutsOff: { lastSeq: 4, head } });
        const stale = { ...cut, cutsOff: { lastSeq: 4, head: { ...head, lastSeq: 3 } } };
        expect(await log.append(stale)).toMatchObject({ outcome: 'appended', added: 0 });
        expect(await log.append(cut)).toMatchObject({ outcome: 'rewritten', added: 0 });
        const read = await log.read(KEY);
        expect(read?.events.slice(1)).toEqual(LOG.slice(0, 4));
        expect(await log.head(KEY)).toMatchObject({ generation: 2, lastSeq: 4, runId: 'run-b' });
      });
    });

    describe('reading', () => {
      it('returns nothing for a conversation that was never stored', async () => {
        expect(await log.head(KEY)).toBeUndefined();
        expect(await log.read(KEY)).toBeUndefined();
        expect(await log.readTurn(KEY, 't1')).toEqual([]);
        expect(await log.findTurn('t1')).toBeUndefined();
        expect(await log.list()).toEqual({ conversations: [] });
      });

      it('pages by count and says whether more events follow', async () => {
        await log.append(batch(LOG));
        const first = await log.read(KEY, { limit: 4 });
        expect([first?.events.length, first?.more, first?.lastSeq]).toEqual([4, true, LOG.length]);
        const rest = await log.read(KEY, { afterSeq: 4, limit: 100 });
        expect(rest?.events).toEqual(LOG.slice(4));
        expect(rest?.more).toBe(false);
        expect(await log.read(KEY, { afterSeq: LOG.length })).toMatchObject({
          events: [],
          more: false,
        });
      });

      it('pages by bytes, but gives at least one event', async () => {
        const bytes =
          Buffer.byteLength(JSON.stringify(LOG[0])) + Buffer.byteLength(JSON.stringify(LOG[1]));
        await log.append(batch(LOG));
        expect((await log.read(KEY, { maxBytes: bytes }))?.events.length).toBe(2);
        expect(await log.read(KEY, { maxBytes: 1 })).toMatchObject({
          events: [LOG[0]],
          more: true,
        });
      });

      it('finds a turn and its events, of the newest generation only', async () => {
        await log.append(batch(LOG));
        expect(await log.findTurn('t2')).toEqual(KEY);
        expect(outline(await log.readTurn(KEY, 't1'))).toEqual([
          '2:user_message',
          '3:turn_started',
          '4:model_call',
          '5:assistant_message',
          '6:turn_ended',
        ]);
        const other = stamped([...asks('t2'), suspends('t2', 'call-1')], { from: 7, clock: 1 });
        await log.append(batch(other, { runId: 'run-b' }));
        expect(outline(await log.readTurn(KEY, 't2'))).toEqual([
          '7:user_message',
          '8:turn_started',
          '9:suspension',
        ]);
      });

      it('shows nothing that waits in a copy of another log, until its own events follow', async () => {
        const key = keyed('fork');
        const origin = [started(), ...asks('t1'), suspends('t1', 'call-1')];
        await log.append(batch(stamped(origin)));
        const copied = stamped([started(key), ...origin.slice(1)]);
        await log.append({ ...key, runId: 'run-f', events: copied, copied: true });
        const waiting = { tenant: 'default', pendingTool: 'pay' };
        const listed = async () =>
          (await log.list(waiting)).conversations.map((found) => found.conversationId);
        expect(await listed()).toEqual(['c1']);
        expect((await log.head(key))?.snapshot).toMatchObject({ status: 'closed', pending: [] });
        expect((await log.read(key))?.events).toEqual(copied);
        const place = { conversationId: 'c1', generation: 1, seq: 4 };
        const begins = { ...started(key, 'chain-f'), origin: place } as EventBody;
        const own = stamped([begins, suspends('t1', 'call-1')], { from: 5 });
        await log.append({ ...key, runId: 'run-f', events: own });
        expect((await listed()).toSorted()).toEqual(['c1', 'fork']);
        expect((await log.head(key))?.snapshot).toMatchObject({ origin: place });
        expect(await log.findTurn('t1')).toEqual(KEY);
        await log.beginDeletion({ ...KEY, runIds: [] });
        expect(await log.findTurn('t1')).toEqual(key);
      });

      it('keeps tenants apart', async () => {
        await log.append(startOf(keyed('c1', 'one')));
        expect(await log.head(keyed('c1', 'two'))).toBeUndefined();
        expect((await log.list({ tenant: 'two' })).conversations).toEqual([]);
      });
    });

    describe('listing', () => {
      it('lists the newest conversations first, in pages that neither repeat nor skip', async () => {
        for (const id of ['a', 'b', 'c', 'd', 'e']) await log.append(startOf(keyed(id)));
        const first = await log.list({ limit: 2 });
        await log.append(startOf(keyed('f')));
        await log.append({
          ...startOf(keyed('a')),
          events: stamped([started(keyed('a')), ...asks('ta')]),
        });
        const second = await log.list({ limit: 2, cursor: first.nextCursor ?? '' });
        const third = await log.list({ limit: 2, cursor: second.nextCursor ?? '' });
        const ids = [first, second, third].map((page) =>
          page.conversations.map((conversation) => conversation.conversationId),
        );
        expect(ids).toEqual([['e', 'd'], ['c', 'b'], ['a']]);
        expect(third.nextCursor).toBeUndefined();
      });

      it('filters by tenant, agent and status', async () => {
        await log.append(startOf(keyed('a')));
        await log.append(startOf(keyed('b', 'other')));
        const waiting = [started(keyed('w')), ...asks('tw'), suspends('tw', 'call-1')];
        await log.append({ ...keyed('w'), runId: 'r', events: stamped(waiting) });
        const ids = async (options: Parameters<EventLog['list']>[0]) =>
          (await log.list(options)).conversations.map(({ conversationId }) => conversationId);
        expect(await ids({ tenant: 'default' })).toEqual(['w', 'a']);
        expect(await ids({ status: 'awaiting_input' })).toEqual(['w']);
        expect(await ids({ status: 'idle', tenant: 'other' })).toEqual(['b']);
        expect(await ids({ agent: 'nobody' })).toEqual([]);
      });

      it('refuses a cursor that it never gave', async () => {
        await expect(log.list({ cursor: "1' OR 1" })).rejects.toThrow(RangeError);
      });
    });

    it('has a name of its own, the same each time, and can be written', async () => {
      const id = await log.storeId();
      expect(id).toMatch(/^[0-9a-f]{12}$/);
      await log.checkWritable();
      expect(await log.storeId()).toBe(id);
    });

    describe('reads of the sweep', () => {
      it('give the heads of open conversations in key order', async () => {
        for (const id of ['b', 'a', 'd', 'c']) await log.append(startOf(keyed(id)));
        await log.append({
          ...startOf(keyed('c')),
          events: stamped([started(keyed('c')), closes()]),
        });
        const first = await log.openHeads({ limit: 2 });
        const rest = await log.openHeads({ limit: 9, after: keyed('b') });
        expect([first, rest].map((heads) => heads.map((head) => head.conversationId))).toEqual([
          ['a', 'b'],
          ['d'],
        ]);
      });

      it('return the last recorded state of a run', async () => {
        await log.append(startOf(KEY));
        await log.touch(KEY, { runId: 'run-b', historyLength: 76, wasRunId: 'run-a' });
        await log.touch(KEY, { runId: 'run-b', historyLength: 77, wasRunId: 'run-a' });
        // Read while a later run, `run-b`, began.
        await log.touch(KEY, { runId: 'run-a', historyLength: 9, wasRunId: 'run-a' });
        expect(await log.head(KEY)).toMatchObject({ runId: 'run-b', historyLength: 77 });
        await log.touch(keyed('unknown'), { runId: 'r', historyLength: 1, wasRunId: 'r' });
        expect(await log.head(keyed('unknown'))).toBeUndefined();
      });

      it('give a lease to one holder until it expires or is released', async () => {
        const lease = { name: 'sweep', ttlMs: 60_000 };
        expect(await log.acquireLease({ ...lease, holder: 'one' })).toBe(true);
        expect(await log.acquireLease({ ...lease, holder: 'two' })).toBe(false);
        expect(await log.acquireLease({ ...lease, holder: 'one', ttlMs: 0 })).toBe(true);
        expect(await log.acquireLease({ ...lease, holder: 'two' })).toBe(true);
        await log.releaseLease({ name: 'sweep', holder: 'one' });
        expect(await log.acquireLease({ ...lease, holder: 'one' })).toBe(false);
        await log.releaseLease({ name: 'sweep', holder: 'two' });
        expect(await log.acquireLease({ ...lease, holder: 'one' })).toBe(true);
      });

      it('show who holds a lease, for how long, and the newest note beside it', async () => {
        const lease = { name: 'sweep', ttlMs: 60_000 };
        expect(await log.heldLease('sweep')).toBeUndefined();
        await log.acquireLease({ ...lease, holder: 'one', note: 'first' });
        await log.acquireLease({ ...lease, holder: 'one' });
        await log.acquireLease({ ...lease, holder: 'two', note: 'refused' });
        const { leftMs = 0, ...held } = (await log.heldLease('sweep')) ?? {};
        expect(held).toEqual({ holder: 'one', note: 'first' });
        expect(leftMs).toBeGreaterThan(30_000);
        expect(leftMs).toBeLessThanOrEqual(60_000);
        await log.acquireLease({ ...lease, holder: 'one', ttlMs: 0 });
        expect(await log.heldLease('sweep')).toEqual({ holder: 'one', note: 'first', leftMs: 0 });
        await log.releaseLease({ name: 'sweep', holder: 'one' });
        expect(await log.heldLease('sweep')).toBeUndefined();
      });

      it('return the newest manifest of each agent', async () => {
        const settings = { maxSteps: 5, onBusy: 'queue', idleCloseMs: 1, coreRevision: 1 } as const;
        const manifest = { name: 'helper', model: 'm1', settings, tools: [] };
        await log.publishAgents([manifest, { ...manifest, name: 'clerk' }]);
        await log.publishAgents([{ ...manifest, model: 'm2' }]);
        const agents = await log.agents();
        expect(agents.map(({ name: agent, model }) => [agent, model])).toEqual([
          ['clerk', 'm1'],
          ['helper', 'm2'],
        ]);
      });
    });
  });
}

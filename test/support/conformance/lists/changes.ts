/** The contract of reads of what has changed, in every adapter of the event log port. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EventBody } from '../../../../src/protocol/log/events.js';
import type { Trouble } from '../../../../src/protocol/values/trouble.js';
import type { Changes } from '../../../../src/store/ports/lists.js';
import type { EventLog } from '../../../../src/store/ports/log.js';
import { promise } from '../../promise.js';
import { keyed } from '../../samples/list-events.js';
import { closes, stamped, started, turn } from '../../samples/log-events.js';

const FAILING: Trouble = {
  kind: 'failing',
  runId: 'r',
  attempts: 4,
  since: '2030-01-01T00:00:00.000Z',
  error: 'boom',
};

const idsOf = ({ changes }: Changes): readonly string[] =>
  changes.map(({ conversationId, isDeletion }) => `${isDeletion ? '-' : ''}${conversationId}`);

export function describeChanges(name: string, make: () => Promise<EventLog>): void {
  describe(name, promise('G364'), () => {
    let log: EventLog;
    beforeEach(async () => {
      log = await make();
    });
    afterEach(async () => {
      await log.close();
    });

    const add = async (id: string, bodies: readonly EventBody[], tenant = 'default') => {
      const key = keyed(id, tenant);
      const head = await log.head(key);
      const all = head === undefined ? [started(key), ...bodies] : bodies;
      const events = stamped(all, { from: (head?.lastSeq ?? 0) + 1 });
      const stored = await log.append({ ...key, runId: 'r', events });
      expect(stored.outcome).toBe('appended');
    };
    const read = async (more: Partial<Parameters<EventLog['changes']>[0]> = {}) =>
      await log.changes({ tenants: ['default'], lookBackMs: 60_000, limit: 100, ...more });

    it('has each conversation once, closed and deleted ones too, longest ago first', async () => {
      for (const id of ['a', 'b', 'c', 'd']) await add(id, turn('t1'));
      await add('a', turn('t2'));
      await add('b', [closes()]);
      await log.beginDeletion({ ...keyed('d'), runIds: ['r'] });
      await add('other', turn('t1'), 'acme');
      const found = await read();
      expect([...idsOf(found)].sort()).toEqual(['-d', 'a', 'b', 'c']);
      const times = found.changes.map(({ changedAtMs }) => changedAtMs);
      expect(times.slice(0, 3)).toEqual(times.slice(0, 3).sort((one, other) => one - other));
      for (const time of times) expect(time).toBeLessThanOrEqual(found.nowMs);
      expect(Math.abs(found.nowMs - Date.now())).toBeLessThan(5_000);
      const both = await read({ tenants: ['acme', 'default', 'none'] });
      expect([...idsOf(both)].sort()).toEqual(['-d', 'a', 'b', 'c', 'other']);
      expect(idsOf(await read({ tenants: [] }))).toEqual([]);
    });

    it('looks back from a time, and from now where that time has not come', async () => {
      await add('a', turn('t1'));
      const { nowMs } = await read();
      expect(idsOf(await read({ sinceMs: nowMs + 1, lookBackMs: -1_000_000 }))).toEqual([]);
      expect(idsOf(await read({ sinceMs: nowMs, lookBackMs: 60_000 }))).toEqual(['a']);
      expect(idsOf(await read({ sinceMs: nowMs + 3_600_000, lookBackMs: 60_000 }))).toEqual(['a']);
      expect(idsOf(await read({ sinceMs: 0, lookBackMs: 0 }))).toEqual(['a']);
    });

    it('says of which tenants changes were left out', async () => {
      for (const id of ['a', 'b', 'c']) await add(id, turn('t1'));
      await add('x', turn('t1'), 'acme');
      const found = await read({ tenants: ['default', 'acme'], limit: 2 });
      expect([...found.cut]).toEqual(['default']);
      expect([...idsOf(found)].sort()).toEqual(['a', 'b', 'x']);
      expect((await read({ limit: 3 })).cut.size).toBe(0);
    });

    it('has another version after events, and after a mark of trouble was made, changed or removed', async () => {
      await add('a', turn('t1'));
      const versions: string[] = [];
      const look = async (): Promise<void> => {
        const [change] = (await read()).changes;
        const [row] = await log.listedIn('default', ['a']);
        expect(row?.version).toBe(change?.version);
        expect(row?.changedAtMs).toBe(change?.changedAtMs);
        versions.push(change?.version ?? '');
      };
      // Two changes of a mark in one millisecond have the same version.
      const later = async (): Promise<void> => {
        const { nowMs } = await read();
        while ((await read()).nowMs === nowMs);
      };
      await look();
      await add('a', turn('t2'));
      await look();
      await later();
      await log.markTrouble(keyed('a'), FAILING);
      await look();
      await later();
      await log.markTrouble(keyed('a'), { ...FAILING, error: 'other' });
      await look();
      await later();
      await log.markTrouble(keyed('a'), { ...FAILING, error: 'other', attempts: 9 });
      await look();
      await later();
      await log.clearTrouble(keyed('a'));
      await look();
      expect(new Set(versions).size).toBe(5);
      expect(versions[3]).toBe(versions[4]);
    });

    it('has both the deletion of a conversation and the one that was begun after it under its id', async () => {
      await add('a', turn('t1'));
      await log.beginDeletion({ ...keyed('a'), runIds: ['r'] });
      const events = stamped([started(keyed('a')), ...turn('t2')], { clock: 5 });
      await log.append({ ...keyed('a'), runId: 'r2', events });
      expect([...idsOf(await read())].sort()).toEqual(['-a', 'a']);
    });

    it('has conversations by their ids as the list has them', async () => {
      for (const id of ['a', 'b', 'c']) await add(id, turn('t1'));
      await log.markTrouble(keyed('b'), FAILING);
      await add('a', turn('t1'), 'acme');
      const rows = await log.listedIn('default', ['a', 'b', 'gone', 'b']);
      const { conversations } = await log.list({ tenant: 'default' });
      const listed = conversations.filter(({ conversationId }) => conversationId !== 'c');
      const shown = rows.map(({ snapshot }) => snapshot);
      const byId = (one: { conversationId: string }, other: { conversationId: string }) =>
        one.conversationId < other.conversationId ? -1 : 1;
      expect([...shown].sort(byId)).toEqual([...listed].sort(byId));
      expect(shown.map(({ status }) => status).sort()).toEqual(['failing', 'idle']);
      expect(await log.listedIn('default', [])).toEqual([]);
    });
  });
}

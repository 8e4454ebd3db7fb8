/** The contract of deletion in every adapter of the event log port. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EventBody } from '../../../src/protocol/log/events.js';
import type { ConversationKey } from '../../../src/protocol/values/ids.js';
import type { EventLog } from '../../../src/store/ports/log.js';
import { asks, closes, KEY, stamped, started, suspends, turn } from '../samples/log-events.js';

const LOG = stamped([started(), ...turn('t1'), ...asks('t2'), suspends('t2', 'call-1')]);
const NEW = stamped([started(KEY, 'chain1'), ...turn('t9')], { clock: 5 });

export function describeDeletions(name: string, make: () => Promise<EventLog>): void {
  describe(name, () => {
    let log: EventLog;
    beforeEach(async () => {
      log = await make();
      await log.append({ ...KEY, runId: 'run-a', events: LOG.slice(0, 6) });
      await log.append({ ...KEY, runId: 'run-b', events: LOG.slice(6) });
    });
    afterEach(async () => {
      await log.close();
    });

    it('leaves nothing to read, by any method', async () => {
      const deletion = await log.beginDeletion({ ...KEY, runIds: ['run-c'] });
      expect([...(deletion?.runIds ?? [])].sort()).toEqual(['run-a', 'run-b', 'run-c']);
      expect(await log.head(KEY)).toBeUndefined();
      expect(await log.read(KEY)).toBeUndefined();
      expect(await log.readTurn(KEY, 't1')).toEqual([]);
      expect(await log.findTurn('t1')).toBeUndefined();
      expect(await log.list()).toEqual({ conversations: [] });
      expect(await log.list({ tenant: 'default', pendingTool: 'pay' })).toEqual({
        conversations: [],
      });
      expect(await log.openHeads({ limit: 9 })).toEqual([]);
    });

    it('finds a turn among conversations: where it began, or in one fork, always the same', async () => {
      const keyed = (conversationId: string) => ({ ...KEY, conversationId });
      for (const id of ['fork-b', 'fork-a', 'fork-c']) {
        const key = keyed(id);
        const events = stamped([started(key), ...asks('t1')]);
        await log.append({ ...key, runId: id, events, copied: true });
      }
      const { tenant } = KEY;
      const among = { tenants: ['other', tenant] };
      expect(await log.findTurn('t1', among)).toEqual(KEY);
      const ofFork = { tenants: [tenant], conversationId: 'fork-b' };
      expect(await log.findTurn('t1', ofFork)).toEqual(keyed('fork-b'));
      for (const tenants of [[], ['other']])
        expect(await log.findTurn('t1', { tenants })).toBeUndefined();
      await log.beginDeletion({ ...KEY, runIds: [] });
      expect(await log.findTurn('t1', among)).toEqual(keyed('fork-a'));
    });

    it('refuses later events of the deleted runs, however late they come', async () => {
      await log.beginDeletion({ ...KEY, runIds: ['run-c'] });
      for (const runId of ['run-a', 'run-b', 'run-c'])
        expect(await log.append({ ...KEY, runId, events: LOG })).toEqual({ outcome: 'deleted' });
      await log.finishDeletion({ ...KEY, runIds: (await log.deletion(KEY))?.runIds ?? [] });
      expect(await log.append({ ...KEY, runId: 'run-b', events: LOG })).toEqual({
        outcome: 'deleted',
      });
      expect(await log.head(KEY)).toBeUndefined();
    });

    it('is not finished by a worker that knows only the runs of an earlier deletion of the id', async () => {
      await log.beginDeletion({ ...KEY, runIds: ['run-c'] });
      const earlier = (await log.deletion(KEY))?.runIds ?? [];
      await log.beginDeletion({ ...KEY, runIds: ['run-d'] });
      await log.finishDeletion({ ...KEY, runIds: earlier });
      expect((await log.deletion(KEY))?.finishedAtMs).toBeUndefined();
      await log.finishDeletion({ ...KEY, runIds: [...earlier, 'run-d'] });
      expect((await log.deletion(KEY))?.finishedAtMs).toBeDefined();
    });

    it('lets a new conversation begin under the same id, which the old runs cannot change', async () => {
      await log.beginDeletion({ ...KEY, runIds: [] });
      expect(await log.append({ ...KEY, runId: 'new', events: NEW })).toMatchObject({
        outcome: 'appended',
        head: { generation: 2, lastSeq: NEW.length },
      });
      const late = { ...KEY, runId: 'run-a', events: LOG };
      expect(await log.append(late)).toEqual({ outcome: 'deleted' });
      expect((await log.read(KEY))?.events).toEqual(NEW);
      const again = await log.beginDeletion({ ...KEY, runIds: [] });
      expect([...(again?.runIds ?? [])].sort()).toEqual(['new', 'run-a', 'run-b']);
      await log.beginDeletion({ ...KEY, runIds: [] });
      await log.finishDeletion({ ...KEY, runIds: (await log.deletion(KEY))?.runIds ?? [] });
      expect(await log.append({ ...KEY, runId: 'newer', events: NEW })).toMatchObject({
        head: { generation: 3, snapshot: { generation: 3 } },
      });
    });

    it('adds runs to its tombstone without changing a conversation that has begun since', async () => {
      await log.beginDeletion({ ...KEY, runIds: [] });
      await log.append({ ...KEY, runId: 'new', events: NEW });
      await log.extendDeletion({ ...KEY, runIds: ['run-c', 'run-a'] });
      expect([...((await log.deletion(KEY))?.runIds ?? [])].sort()).toEqual([
        'run-a',
        'run-b',
        'run-c',
      ]);
      expect((await log.read(KEY))?.events).toEqual(NEW);
      await log.extendDeletion({ tenant: 'default', conversationId: 'never', runIds: ['r'] });
      expect(await log.deletion({ tenant: 'default', conversationId: 'never' })).toBeUndefined();
    });

    it('names the root of its sub-agents where they go with it, until it is finished', async () => {
      const rootOf = async (key: ConversationKey) => (await log.deletion(key))?.root;
      const withSubAgents = true;
      await log.beginDeletion({ ...KEY, runIds: [] });
      expect(await rootOf(KEY)).toBeUndefined();
      await log.beginDeletion({ ...KEY, runIds: [], withSubAgents });
      expect(await rootOf(KEY)).toBe(KEY.conversationId);
      const sub = { ...KEY, conversationId: 'sub' };
      const step = { ...KEY, toolCallId: 'call-1', name: 'ask' };
      const parent = { root: KEY.conversationId, path: [step] } as const;
      const events = stamped([{ ...started(sub), parent } as EventBody]);
      await log.append({ ...sub, runId: 'r', events });
      await log.beginDeletion({ ...sub, runIds: [], withSubAgents });
      // Its rows are gone by now.
      await log.beginDeletion({ ...sub, runIds: [], withSubAgents });
      await log.beginDeletion({ ...sub, runIds: [] });
      expect(await rootOf(sub)).toBe(KEY.conversationId);
      await log.finishDeletion({ ...sub, runIds: (await log.deletion(sub))?.runIds ?? [] });
      await log.beginDeletion({ ...sub, runIds: [] });
      expect(await rootOf(sub)).toBeUndefined();
    });

    it('stays unfinished until it is finished, and begins again when it is requested again', async () => {
      expect(await log.deletion(KEY)).toBeUndefined();
      await log.beginDeletion({ ...KEY, runIds: [] });
      const keys = async (forMs: number) =>
        (await log.unfinishedDeletions({ limit: 9, forMs })).map(
          ({ conversationId }) => conversationId,
        );
      expect(await keys(0)).toEqual(['c1']);
      expect(await keys(60_000)).toEqual([]);
      await log.finishDeletion({ ...KEY, runIds: (await log.deletion(KEY))?.runIds ?? [] });
      await log.finishDeletion({ ...KEY, runIds: (await log.deletion(KEY))?.runIds ?? [] });
      expect(await keys(0)).toEqual([]);
      expect((await log.deletion(KEY))?.finishedAtMs).toBeTypeOf('number');
      await log.beginDeletion({ ...KEY, runIds: ['run-z'] });
      expect(await log.deletion(KEY)).not.toHaveProperty('finishedAtMs');
      expect(await keys(0)).toEqual(['c1']);
    });

    it('is listed in the order of requests, after a given one', async () => {
      for (const conversationId of ['c', 'a', 'b'])
        await log.beginDeletion({ tenant: 'default', conversationId, runIds: [] });
      const all = await log.unfinishedDeletions({ limit: 9, forMs: 0 });
      expect(all).toHaveLength(3);
      const [first] = await log.unfinishedDeletions({ limit: 1, forMs: 0 });
      expect(first).toEqual(all[0]);
      const rest = await log.unfinishedDeletions({ limit: 9, forMs: 0, after: first });
      expect(rest).toEqual(all.slice(1));
      expect(await log.unfinishedDeletions({ limit: 9, forMs: 0, after: all[2] })).toEqual([]);
    });

    it('does nothing where the log has moved since its head was read', async () => {
      const at = { generation: 1, runId: 'run-b', lastSeq: LOG.length };
      const stale = { ...at, lastSeq: LOG.length - 1 };
      expect(await log.beginDeletion({ ...KEY, runIds: [], onlyAt: stale })).toBeUndefined();
      expect((await log.head(KEY))?.lastSeq).toBe(LOG.length);
      expect(await log.deletion(KEY)).toBeUndefined();
      expect(await log.beginDeletion({ ...KEY, runIds: [], onlyAt: at })).toBeDefined();
      expect(await log.head(KEY)).toBeUndefined();
    });

    it('lists the conversations of a tenant, and the deletions that are not finished', async () => {
      const add = async (tenant: string, conversationId: string) => {
        const key = { tenant, conversationId };
        await log.append({ ...key, runId: 'r', events: stamped([started(key), closes()]) });
        return key;
      };
      const [gone, half] = [await add('t', 'gone'), await add('t', 'half')];
      await add('t', 'here');
      await add('u', 'other');
      for (const key of [gone, half]) await log.beginDeletion({ ...key, runIds: [] });
      await log.finishDeletion({ ...gone, runIds: (await log.deletion(gone))?.runIds ?? [] });
      const ids = async (more: { limit: number; after?: string }) =>
        (await log.keysOfTenant({ tenant: 't', ...more })).map(
          ({ conversationId }) => conversationId,
        );
      expect(await ids({ limit: 9 })).toEqual(['half', 'here']);
      expect(await ids({ limit: 1 })).toEqual(['half']);
      expect(await ids({ limit: 9, after: 'half' })).toEqual(['here']);
    });

    it('removes the tombstones of deletions that were finished long ago', async () => {
      await log.beginDeletion({ ...KEY, runIds: [] });
      expect(await log.forgetDeletions({ limit: 9, forMs: -60_000 })).toBe(0);
      await log.finishDeletion({ ...KEY, runIds: (await log.deletion(KEY))?.runIds ?? [] });
      expect(await log.forgetDeletions({ limit: 9, forMs: 60_000 })).toBe(0);
      expect(await log.forgetDeletions({ limit: 9, forMs: -60_000 })).toBe(1);
      expect(await log.deletion(KEY)).toBeUndefined();
    });
  });
}

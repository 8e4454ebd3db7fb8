/** The contract of trouble marks in every adapter of the event log port. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Trouble } from '../../../src/protocol/values/trouble.js';
import type { ListOptions } from '../../../src/store/ports/lists.js';
import type { EventLog } from '../../../src/store/ports/log.js';
import { keyed, minute, waits } from '../samples/list-events.js';
import { asks, closes, KEY, stamped, started, turn } from '../samples/log-events.js';

const LOG = stamped([started(), ...turn('t1'), ...turn('t2')]);
export const FAILING: Trouble = {
  kind: 'failing',
  runId: 'run-a',
  attempts: 4,
  since: '2030-01-01T00:00:00.000Z',
  error: 'boom',
};

export function describeTroubles(name: string, make: () => Promise<EventLog>): void {
  describe(name, () => {
    let log: EventLog;
    beforeEach(async () => {
      log = await make();
      await log.append({ ...KEY, runId: 'run-a', events: LOG });
      const parked = [started(keyed('parked')), ...asks('t9'), waits('c', { deadline: minute(9) })];
      await log.append({ ...keyed('parked'), runId: 'run-b', events: stamped(parked) });
    });
    afterEach(async () => {
      await log.close();
    });
    const listed = async (options: Pick<ListOptions, 'status' | 'pendingTool'> = {}) =>
      (await log.list({ tenant: 'default', ...options })).conversations.map(
        ({ conversationId, status }) => `${conversationId} ${status}`,
      );

    it('are the status in every list, and a filter; the status of the log is kept beside them and finds them', async () => {
      const [own, parked] = [KEY.conversationId, 'parked'];
      await log.markTrouble(KEY, FAILING);
      await log.markTrouble(keyed(parked), { ...FAILING, kind: 'slow' });
      expect(await listed()).toEqual([`${parked} slow`, `${own} failing`]);
      expect(await listed({ status: 'failing' })).toEqual([`${own} failing`]);
      expect(await listed({ status: 'slow' })).toEqual([`${parked} slow`]);
      // A status of the log finds them as well: calls wait for people all the same.
      expect(await listed({ status: 'idle' })).toEqual([`${own} failing`]);
      const { conversations } = await log.list({ pendingTool: 'pay', status: 'slow' });
      expect(conversations).toMatchObject([
        { conversationId: parked, status: 'slow', trouble: { was: 'awaiting_input', attempts: 4 } },
      ]);
    });

    it('are counted while they hold, beside the calls that wait, by kind', async () => {
      const overdue = [
        started(keyed('late')),
        ...asks('t8'),
        waits('d', { deadline: minute(-9e6) }),
      ];
      await log.append({ ...keyed('late'), runId: 'run-c', events: stamped(overdue) });
      await log.markTrouble(KEY, FAILING);
      await log.markTrouble(keyed('parked'), { ...FAILING, kind: 'slow' });
      await log.markTrouble(keyed('not-stored'), FAILING);
      const { waits: counted, ...troubles } = await log.counts();
      expect(troubles).toEqual({ failing: 1, slow: 1 });
      const { conversations } = await log.list({ pendingTool: 'pay' });
      const opened = conversations.flatMap(({ pending }) =>
        pending.map(({ openedAt }) => openedAt),
      );
      expect(counted).toEqual([
        {
          kind: 'approval',
          open: 2,
          overdue: 1,
          oldestOpenedAtMs: Date.parse(opened.sort()[0] ?? ''),
        },
      ]);
      const end = stamped([closes()], { from: overdue.length + 1 });
      await log.append({ ...keyed('late'), runId: 'run-c', events: end });
      expect((await log.counts()).waits).toMatchObject([{ open: 1, overdue: 0 }]);
    });

    it('hold until an event is appended, or they are cleared', async () => {
      await log.markTrouble(KEY, FAILING);
      expect(await log.trouble(KEY)).toEqual(FAILING);
      const next = stamped(turn('t3'), { from: LOG.length + 1 });
      await log.append({ ...KEY, runId: 'run-a', events: next });
      expect(await log.trouble(KEY)).toBeUndefined();
      expect(await listed({ status: 'failing' })).toEqual([]);
      await log.markTrouble(KEY, FAILING);
      expect(await log.clearTrouble(KEY)).toBe(true);
      expect(await log.clearTrouble(KEY)).toBe(false);
      expect(await log.trouble(KEY)).toBeUndefined();
    });

    it('report whether they are news: another kind, run or error is, one more attempt is not', async () => {
      expect(await log.markTrouble(KEY, FAILING)).toBe(true);
      expect(await log.markTrouble(KEY, { ...FAILING, attempts: 5 })).toBe(false);
      expect((await log.trouble(KEY))?.attempts).toBe(5);
      expect(await log.markTrouble(KEY, { ...FAILING, error: 'other' })).toBe(true);
    });

    it('are kept for conversations without stored events, and are read in key order', async () => {
      await log.markTrouble(keyed('a-new'), FAILING);
      await log.markTrouble(keyed('parked'), FAILING);
      expect(await log.trouble(keyed('a-new'))).toEqual(FAILING);
      const [first] = await log.troubles({ limit: 1 });
      expect(first).toEqual({ ...keyed('a-new'), trouble: FAILING });
      expect(await log.troubles({ limit: 9, ...(first && { after: first }) })).toMatchObject([
        { conversationId: 'parked' },
      ]);
    });

    it('are not shown for a closed conversation, and go with a deleted one', async () => {
      const next = stamped([closes()], { from: LOG.length + 1 });
      await log.append({ ...KEY, runId: 'run-a', events: next });
      await log.markTrouble(KEY, FAILING);
      expect(await listed({ status: 'closed' })).toEqual([`${KEY.conversationId} closed`]);
      await log.beginDeletion({ ...KEY, runIds: [] });
      expect(await log.troubles({ limit: 9 })).toEqual([]);
    });

    it('are refused for a run of a deleted conversation, not for another that begins under its id', async () => {
      await log.beginDeletion({ ...KEY, runIds: [] });
      expect(await log.markTrouble(KEY, FAILING)).toBe(false);
      expect(await log.troubles({ limit: 9 })).toEqual([]);
      expect(await log.markTrouble(KEY, { ...FAILING, runId: 'run-z' })).toBe(true);
      expect(await log.troubles({ limit: 9 })).toHaveLength(1);
    });
  });
}

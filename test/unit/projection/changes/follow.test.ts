/** Frames of the stream of a tenant's conversations for one reader. */
import { describe, expect, it } from 'vitest';
import { createDeletions } from '../../../../src/projection/duties/deletions.js';
import type { ConversationsFrame } from '../../../../src/protocol/log/conversations-stream.js';
import { next, pass, setUp, take } from '../../../support/networks/followed-lists.js';
import { promise } from '../../../support/promise.js';
import { keyed } from '../../../support/samples/list-events.js';
import { closes, suspends, turn } from '../../../support/samples/log-events.js';
import { until } from '../../../support/until.js';

describe('a reader of the conversations of a tenant', () => {
  it.each([true, false])(
    'sees each change and deletion; with hints: %s',
    {
      ...promise('G364'),
    },
    async (hints) => {
      const { log, live, open, add, hint } = await setUp({ hints });
      await add('a');
      const reader = take(await open());
      await until('ready', () => reader.told.length > 0);
      expect(reader.seen[0]).toMatchObject({ type: 'ready' });
      await add('b');
      hint('b');
      await until('b', () => reader.told.length > 1);
      await add('a', [closes()]);
      hint('a');
      await until('a', () => reader.told.length > 2);
      const deletions = createDeletions({ log, ...(hints ? { live } : {}) });
      await deletions.begin({ ...keyed('b'), runIds: ['r'] });
      await until('the deletion', () => reader.told.includes('-b'));
      expect(reader.told.slice(0, 4)).toEqual(['ready', 'b idle 6', 'a closed 7', '-b']);
    },
  );

  it('gets a change by its hint and not again by the poll', promise('G364'), async () => {
    const { open, add, hint, counts } = await setUp({ hints: true });
    const reader = take(await open());
    for (const id of ['a', 'b']) {
      await add(id);
      hint(id);
      await until('it came', () => reader.told.some((one) => one.startsWith(id)));
    }
    await pass(counts, 3);
    expect(reader.told).toEqual(['ready', 'a idle 6', 'b idle 6']);
    expect(counts.rows).toBe(2);
  });

  it('gets changes that come together as one frame', promise('G364'), async () => {
    const { open, add, hint, counts } = await setUp({ hints: true });
    const reader = take(await open());
    await add('a');
    hint('a');
    await until('the first', () => reader.told.length === 2);
    for (let nth = 1; nth <= 20; nth += 1) {
      await add('a', turn(`t${nth}`));
      hint('a');
    }
    await until('the last', () => reader.told.includes('a idle 106'));
    expect(reader.told.length).toBeLessThan(6);
    expect(counts.listedIn).toBeLessThan(6);
  });

  it('sees a conversation leave its filter, and come', promise('G364'), async () => {
    const { open, add, hint } = await setUp({ hints: true });
    const waiting = take(await open({ status: 'awaiting_input' }));
    const other = take(await open({ agent: 'other' }));
    const helper = take(await open({ agent: 'helper', status: 'active' }));
    const below = take(await open({ root: 'r' }));
    await add('a', [...turn('t0'), ...turn('t').slice(0, 2), suspends('t', 'call')]);
    hint('a');
    await until('it waits', () => waiting.told.length === 2);
    await add('a', [closes()]);
    hint('a');
    await until('it has left', () => waiting.told.length === 3);
    await until('all', () => [other, helper, below].every(({ told }) => told.length === 3));
    expect(waiting.told).toEqual(['ready', 'a awaiting_input 9', '-a']);
    for (const { told } of [other, helper, below]) expect(told).toEqual(['ready', '-a', '-a']);
  });

  it(
    'sees a mark of trouble come and go, by the filters of the list',
    promise('G364'),
    async () => {
      const { log, open, add } = await setUp();
      await add('a');
      const all = take(await open());
      const failing = take(await open({ status: 'failing' }));
      const idle = take(await open({ status: 'idle' }));
      const active = take(await open({ status: 'active' }));
      await until('ready', () => [all, failing, idle, active].every(({ told }) => told.length > 0));
      const since = new Date().toISOString();
      await log.markTrouble(keyed('a'), { kind: 'failing', runId: 'r', attempts: 4, since });
      await until('the mark', () => failing.told.length === 2);
      await log.clearTrouble(keyed('a'));
      await until('no mark', () =>
        [all, failing, idle, active].every(({ told }) => told.length === 3),
      );
      expect(all.told).toEqual(['ready', 'a failing 6', 'a idle 6']);
      expect(failing.told).toEqual(['ready', 'a failing 6', '-a']);
      expect(idle.told).toEqual(['ready', 'a failing 6', 'a idle 6']);
      expect(active.told).toEqual(['ready', 'a failing 6', 'a idle 6']);
    },
  );

  it('sees nothing of other tenants', async () => {
    const { open, add, counts } = await setUp();
    const [mine, other] = [take(await open()), take(await open({ tenant: 'acme' }))];
    await until('ready', () => mine.told.length > 0 && other.told.length > 0);
    await add('a', turn('t'), 'acme');
    await until('the change', () => other.told.length > 1);
    await pass(counts);
    expect(mine.told).toEqual(['ready']);
  });
});

describe('a reader that comes back', () => {
  it('gets what has changed in between, each conversation once', promise('G364'), async () => {
    const { log, open, add } = await setUp();
    for (const id of ['a', 'b', 'c', 'd']) await add(id);
    const gone = await open();
    const { value } = (await gone.next()) as { value: ConversationsFrame };
    for (const nth of [1, 2, 3]) await add('a', turn(`t${nth}`));
    await log.beginDeletion({ ...keyed('b'), runIds: ['r'] });
    await add('e');
    const back = take(await open({}, value.id));
    await until('all', () => back.told.length >= 5);
    // Those of the window before the place come again.
    expect([...back.told].sort()).toEqual(['-b', 'a idle 21', 'c idle 6', 'd idle 6', 'e idle 6']);
    expect(back.seen.slice(0, 4).every(({ id }) => id === undefined)).toBe(true);
    expect(back.seen[4]?.id).toMatch(/^t-\d+$/);
  });

  it('sees a change that was committed late, with a time before its place', {
    ...promise('G364'),
  }, async () => {
    // Conversations that a transaction has written and not committed.
    const open = new Set<string>(['late', 'later']);
    const { log, ...setup } = await setUp({
      reads: (log) => ({
        changes: async (of) => {
          const found = await log.changes(of);
          const changes = found.changes.filter(({ conversationId }) => !open.has(conversationId));
          return { ...found, changes };
        },
        listedIn: async (tenant, ids) =>
          (await log.listedIn(tenant, ids)).filter(
            ({ snapshot }) => !open.has(snapshot.conversationId),
          ),
      }),
    });
    await setup.add('late');
    await setup.add('later');
    const here = take(await setup.open());
    const away = take(await setup.open());
    await setup.add('early');
    await until('a change after it', () => here.told.includes('early idle 6'));
    await pass(setup.counts, 3);
    await until('its place', () => away.lastId !== undefined && away.told.length > 1);
    const { changes } = await log.changes({ tenants: ['default'], lookBackMs: 60_000, limit: 9 });
    const late = changes.find(({ conversationId }) => conversationId === 'late');
    const place = Number(away.lastId?.slice(2));
    expect(late?.changedAtMs).toBeLessThan(place);
    open.delete('late');
    await until('the reader that stayed', () => here.told.includes('late idle 6'));
    const back = take(await setup.open({}, away.lastId));
    await until('the reader that came back', () => back.told.includes('late idle 6'));
    open.delete('later');
    await until('both', () => [here, back].every(({ told }) => told.includes('later idle 6')));
  });

  it('reads the list again where too much has changed, or the place is not one of this store', {
    ...promise('G364'),
  }, async () => {
    const { open, add, counts } = await setUp({ options: { maxPending: 3 } });
    const { value } = (await (await open()).next()) as { value: ConversationsFrame };
    for (const id of ['a', 'b', 'c', 'd']) await add(id);
    await pass(counts);
    const now = Date.now();
    for (const after of [value.id, `t-${now + 3_600_000}`, `t-${now - 48 * 3_600_000}`]) {
      const back = await open({}, after);
      const reset = (await back.next()) as { value: ConversationsFrame };
      expect(reset.value).toMatchObject({ type: 'reset' });
      expect(Number(reset.value.id?.slice(2))).toBeLessThanOrEqual(Date.now());
    }
  });
});

describe('a slow reader', () => {
  it('gets the last state of each conversation, however many it did not take', {
    ...promise('G364'),
  }, async () => {
    const { open, add, counts } = await setUp();
    const slow = await open();
    expect(await next(slow)).toBe('ready');
    const fast = take(await open());
    for (const nth of [1, 2, 3]) {
      for (const id of ['a', 'b', 'c']) await add(id, turn(`t${nth}`));
      await until('the fast one', () => fast.told.includes(`c idle ${nth * 5 + 1}`));
    }
    await pass(counts);
    const got = [await next(slow), await next(slow), await next(slow)];
    expect(got.sort()).toEqual(['a idle 16', 'b idle 16', 'c idle 16']);
    await add('d');
    expect(await next(slow)).toBe('d idle 6');
  });

  it('has no place before all that waited for it, and is reset when too many wait', {
    ...promise('G364'),
  }, async () => {
    const { open, add } = await setUp({ options: { maxPending: 30 } });
    const slow = await open();
    const ready = (await slow.next()).value as ConversationsFrame;
    const fast = take(await open());
    const ids = Array.from({ length: 25 }, (_, nth) => `c-${nth}`);
    for (const id of ids) await add(id);
    await until('the fast one', () => fast.told.length > 25);
    for (let nth = 0; nth < 24; nth += 1)
      expect(((await slow.next()).value as ConversationsFrame).id).toBeUndefined();
    const last = (await slow.next()).value as ConversationsFrame;
    expect(Number(last.id?.slice(2))).toBeGreaterThan(Number(ready.id?.slice(2)));
    for (let nth = 0; nth < 40; nth += 1) await add(`more-${nth}`);
    await until(
      'told of more',
      () => fast.told.includes('more-39 idle 6') || fast.told.includes('reset'),
    );
    expect(await next(slow)).toBe('reset');
    await add('after');
    expect(await next(slow)).toBe('after idle 6');
  });
});

/** The contract of every store for the events that it writes for webhooks. `make` gives empty stores each time. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CanonicalEvent, EventBody } from '../../../src/protocol/log/events.js';
import type { WebhookEvent } from '../../../src/protocol/log/webhook-events.js';
import type { Trouble } from '../../../src/protocol/values/trouble.js';
import type { AppendBatch } from '../../../src/store/ports/log.js';
import { Dice } from '../dice.js';
import { promise } from '../promise.js';
import { keyed } from '../samples/list-events.js';
import {
  answers,
  asks,
  closes,
  KEY,
  stamped,
  started,
  suspends,
  turn,
} from '../samples/log-events.js';
import { eventsFor, outlineOf, putEndpoint, type WebhookStores } from './samples.js';

const OPENED_MS = Date.parse('2030-01-01T00:00:00.000Z');
const DEADLINE_MS = Date.parse('2030-01-02T00:00:00.000Z');
const FAILING: Trouble = {
  kind: 'failing',
  runId: 'run-a',
  attempts: 4,
  since: '2030-01-01T00:00:00.000Z',
  error: 'boom',
};

const resolves = (toolCallId: string, requestId = `r-${toolCallId}`): EventBody => ({
  type: 'resolution',
  turnId: 't1',
  toolCallId,
  kind: 'approval',
  resolution: { type: 'approve' },
  requestId,
  actor: { id: 'ann', verified: true, channel: 'api' },
});
const LIMIT: EventBody = { type: 'turn_limit_reached', turnId: 't1', limit: 'token_budget' };
const LABELS = { title: 'Pay an order', risk: 'high' } as const;
const WAITS = [started(), ...asks('t1'), suspends('t1', 'call-1', LABELS)];

export function describeOutbox(name: string, make: () => Promise<WebhookStores>): void {
  describe(name, () => {
    let stores: WebhookStores;
    beforeEach(async () => {
      stores = await make();
    });
    afterEach(async () => {
      await stores.log.close();
    });
    const append = async (
      events: readonly CanonicalEvent[],
      more: Partial<AppendBatch> = {},
    ): Promise<unknown> => await stores.log.append({ ...KEY, runId: 'run-a', events, ...more });
    const sent = async (id?: string) => outlineOf(await eventsFor(stores.webhooks, id));

    it('has no event for a copy of another log, and one for a call that waits anew in the fork', {
      ...promise('G381'),
    }, async () => {
      await putEndpoint(stores.webhooks);
      await append(stamped(WAITS), { copied: true });
      expect(await sent()).toEqual([]);
      const origin = { conversationId: 'c0', generation: 1, seq: WAITS.length };
      const begins = { ...started(KEY, 'chain1'), origin } as EventBody;
      await append(stamped([begins, suspends('t1', 'call-1')], { from: WAITS.length + 1 }));
      expect(await sent()).toHaveLength(1);
    });

    it('has an event for each moment that another system may wait for, in order', async () => {
      await putEndpoint(stores.webhooks);
      const [limit, ...rest] = [LIMIT, ...answers('t1'), closes()];
      await append(stamped([...WAITS, resolves('call-1'), limit, ...rest]));
      expect(await sent()).toEqual([
        'suspension.opened call-1',
        'suspension.ended call-1',
        'budget.reached t1',
        'turn.ended t1',
        'closed',
      ]);
      const [opened, ended] = await eventsFor(stores.webhooks);
      expect(opened).toEqual({
        specversion: '1.0',
        id: expect.stringMatching(/^msg_[0-9a-f]{40}$/) as string,
        source: '/tenants/default/conversations/c1',
        type: 'conversation.suspension.opened',
        time: '2030-01-01T00:00:04.000Z',
        timestamp: '2030-01-01T00:00:04.000Z',
        subject: 'call-1',
        datacontenttype: 'application/json',
        data: {
          ...{ tenant: 'default', conversationId: 'c1', agent: 'helper', cursor: '1-4' },
          ...{ turnId: 't1', toolCallId: 'call-1', ref: 'default~c1~call-1', tool: 'pay' },
          ...LABELS,
          ...{ kind: 'approval', deadline: new Date(DEADLINE_MS).toISOString() },
          openedAt: new Date(OPENED_MS).toISOString(),
        },
      });
      expect(ended?.data).toMatchObject({ outcome: 'answered', answer: 'approve', by: 'ann' });
    });

    it('has the reason for which a wait ended', async () => {
      await putEndpoint(stores.webhooks);
      const bodies = [...WAITS, suspends('t1', 'call-2'), suspends('t1', 'call-3')];
      const expired = {
        turnId: 't1',
        kind: 'approval',
        deadline: '2030-01-02T00:00:00.000Z',
      } as const;
      await append(
        stamped([
          ...bodies,
          { type: 'expired', toolCallId: 'call-2', ...expired },
          ...answers('t1'),
        ]),
      );
      const outcomes = (await eventsFor(stores.webhooks)).flatMap(({ type, data, subject }) =>
        type === 'conversation.suspension.ended' ? [`${subject ?? ''} ${data.outcome}`] : [],
      );
      expect(outcomes).toEqual(['call-2 expired', 'call-1 cancelled', 'call-3 cancelled']);
    });

    it(
      'holds each event once, however often and in any parts the log is appended',
      promise('G358'),
      async () => {
        await putEndpoint(stores.webhooks);
        const log = stamped([...WAITS, resolves('call-1'), ...answers('t1')]);
        for (const event of log) await append([event]);
        const once = await eventsFor(stores.webhooks);
        await append(log);
        await append(log.slice(2));
        expect(await eventsFor(stores.webhooks)).toEqual(once);
        expect(await sent()).toEqual([
          'suspension.opened call-1',
          'suspension.ended call-1',
          'turn.ended t1',
        ]);
      },
    );

    it('goes to the endpoints of its tenant, and of all tenants, that want the type and the agent', async () => {
      const { webhooks } = stores;
      await putEndpoint(webhooks, { id: 'all' });
      await putEndpoint(webhooks, { id: 'types', events: ['conversation.turn.ended'] });
      await putEndpoint(webhooks, { id: 'agent', agents: ['helper'] });
      await putEndpoint(webhooks, { id: 'other-agent', agents: ['other'] });
      await putEndpoint(webhooks, { id: 'other-tenant', tenant: 'acme' });
      await putEndpoint(webhooks, { id: 'disabled', status: 'disabled' });
      await putEndpoint(webhooks, { id: 'paused', status: 'paused' });
      const { tenant: _tenant, ...everyTenant } = await putEndpoint(webhooks, { id: 'every' });
      await webhooks.putEndpoint(everyTenant, { secret: 'x', previousUntilMs: 0 });
      await append(stamped([...WAITS, ...answers('t1')]));
      const all = ['suspension.opened call-1', 'suspension.ended call-1', 'turn.ended t1'];
      for (const id of ['all', 'agent', 'paused', 'every'])
        expect([id, await sent(id)]).toEqual([id, all]);
      expect(await sent('types')).toEqual(['turn.ended t1']);
      for (const id of ['other-agent', 'other-tenant', 'disabled'])
        expect([id, await sent(id)]).toEqual([id, []]);
    });

    it('announces a wait that ends soon once for each deadline, and none that has ended', async () => {
      const { webhooks } = stores;
      const announce = async (nowMs: number) =>
        await webhooks.announceExpiring({ nowMs, limit: 9 });
      const hourBefore = DEADLINE_MS - 3_600_000;
      await append(stamped([...WAITS, suspends('t1', 'call-2')]));
      // Kept for an endpoint that is created later.
      expect(await announce(hourBefore)).toBe(0);
      await putEndpoint(webhooks);
      expect(await announce(hourBefore - 1)).toBe(0);
      await append(stamped([resolves('call-2')], { from: 6 }));
      expect(await announce(hourBefore)).toBe(1);
      expect(await announce(hourBefore)).toBe(0);
      const extended = { turnId: 't1', toolCallId: 'call-1', requestId: 'e1' };
      const [deadline, previousDeadline] = [DEADLINE_MS + 7_200_000, DEADLINE_MS].map((at) =>
        new Date(at).toISOString(),
      ) as [string, string];
      const actor = { id: 'ann', verified: true, channel: 'api' } as const;
      await append(
        stamped([{ type: 'extended', ...extended, deadline, previousDeadline, actor }], {
          from: 7,
        }),
      );
      expect(await announce(hourBefore)).toBe(0);
      expect(await announce(hourBefore + 7_200_000)).toBe(1);
      const expiring = (await eventsFor(webhooks)).filter(({ type }) => type.endsWith('expiring'));
      expect(expiring.map(({ data }) => 'deadline' in data && data.deadline)).toEqual([
        previousDeadline,
        deadline,
      ]);
    });

    it('leaves it to a tool that declares `warnBefore` when its waits are announced', async () => {
      await putEndpoint(stores.webhooks);
      const call = { toolCallId: 'call-1', name: 'pay', warnBeforeMs: 60_000 };
      const planned = { type: 'tool_call', turnId: 't1', step: 1, call } as unknown as EventBody;
      const [start, ...rest] = WAITS;
      await append(stamped([start as EventBody, ...asks('t1'), planned, ...rest.slice(-1)]));
      await stores.webhooks.announceExpiring({ nowMs: DEADLINE_MS - 3_600_000, limit: 9 });
      expect(await sent()).toEqual(['suspension.opened call-1']);
      const at = { turnId: 't1', toolCallId: 'call-1', kind: 'approval' } as const;
      const deadline = new Date(DEADLINE_MS).toISOString();
      await append(stamped([{ type: 'suspension_expiring', ...at, deadline }], { from: 6 }));
      expect(await sent()).toEqual(['suspension.opened call-1', 'suspension.expiring call-1']);
    });

    it('reports a conversation that fails once, until it fails again', async () => {
      await putEndpoint(stores.webhooks);
      await append(stamped([started(), ...turn('t1')]));
      await stores.log.markTrouble(KEY, { ...FAILING, kind: 'slow' });
      await stores.log.markTrouble(KEY, FAILING);
      await stores.log.markTrouble(KEY, { ...FAILING, attempts: 9, error: 'another' });
      expect(await sent()).toEqual(['turn.ended t1', 'failing']);
      expect((await eventsFor(stores.webhooks)).at(-1)?.data).toEqual({
        ...{ tenant: 'default', conversationId: 'c1', agent: 'helper' },
        ...{ runId: 'run-a', since: FAILING.since, attempts: 4 },
      });
      await stores.log.clearTrouble(KEY);
      await stores.log.markTrouble(KEY, { ...FAILING, since: '2030-01-03T00:00:00.000Z' });
      expect(await sent()).toEqual(['turn.ended t1', 'failing', 'failing']);
    });

    it('goes with its conversation, and leaves those of others', async () => {
      await putEndpoint(stores.webhooks);
      const other = keyed('other');
      await append(stamped([...WAITS]));
      await append(stamped([started(other), ...turn('t9')]), other);
      await stores.log.beginDeletion({ ...KEY, runIds: [] });
      expect(await sent()).toEqual(['turn.ended t9']);
    });

    describe('of a log that is rewritten', promise('G358'), () => {
      it('sends nothing again of the part that stays, and of equal events', async () => {
        await putEndpoint(stores.webhooks);
        const later = [...answers('t1'), ...turn('t2')];
        await append(stamped([...WAITS, resolves('call-1'), ...later]));
        const before = await eventsFor(stores.webhooks);
        const [message, ...same] = turn('t2');
        const other = { ...message, requestId: 'another' } as EventBody;
        const log = stamped([...WAITS, resolves('call-1'), ...answers('t1'), other, ...same]);
        expect(await append(log, { runId: 'run-b' })).toMatchObject({ outcome: 'rewritten' });
        expect(await eventsFor(stores.webhooks)).toEqual(before);
      });

      it('sends what is new, under another id, and says that calls were withdrawn', async () => {
        await putEndpoint(stores.webhooks);
        await append(stamped([...WAITS, ...answers('t1', 'one').slice(0, 1)]));
        const log = stamped([started(), ...asks('t1'), ...answers('t1', 'two')]);
        expect(await append(log, { runId: 'run-b' })).toMatchObject({ outcome: 'rewritten' });
        const events = await eventsFor(stores.webhooks);
        expect(outlineOf(events)).toEqual([
          'suspension.opened call-1',
          'turn.ended t1',
          'suspension.ended call-1',
        ]);
        expect(events.at(-1)?.data).toMatchObject({ outcome: 'withdrawn', cursor: '2-6' });
      });

      it('opens a call again whose answer is cut off', async () => {
        await putEndpoint(stores.webhooks);
        await append(stamped([...WAITS, resolves('call-1')]));
        const head = { generation: 1, runId: 'run-a', lastSeq: 5 };
        await append(stamped(WAITS), { runId: 'run-b', cutsOff: { lastSeq: 4, head } });
        const events = await eventsFor(stores.webhooks);
        expect(outlineOf(events)).toEqual([
          'suspension.opened call-1',
          'suspension.ended call-1',
          'suspension.opened call-1',
        ]);
        expect(new Set(events.map(({ id }) => id)).size).toBe(3);
      });

      it('ends a wait again that began again, although its answer is the same', async () => {
        await putEndpoint(stores.webhooks);
        await append(stamped([...WAITS, resolves('call-1')]));
        const later = suspends('t1', 'call-1', { deadline: '2030-01-03T00:00:00.000Z' });
        await append(stamped([...WAITS.slice(0, -1), later, resolves('call-1')]), {
          runId: 'run-b',
        });
        const events = await eventsFor(stores.webhooks);
        expect(outlineOf(events)).toEqual([
          ...['suspension.opened call-1', 'suspension.ended call-1'],
          ...['suspension.opened call-1', 'suspension.ended call-1'],
        ]);
        expect(events.at(-1)?.data).toMatchObject({ outcome: 'answered', cursor: '2-5' });
      });
    });

    it(
      'leads every receiver to the calls that wait, by random appends and rewrites',
      promise('G358'),
      async () => {
        const dice = new Dice(20);
        for (let round = 0; round < 25; round += 1) {
          const key = keyed(`random-${round}`);
          const endpointId = `hook-${round}`;
          await putEndpoint(stores.webhooks, { id: endpointId });
          let log: readonly CanonicalEvent[] = stamped([started(key), ...asks('t1')]);
          for (let batch = 0; batch < 6; batch += 1) {
            const keep = dice.oneIn(3) ? 3 + dice.below(log.length - 2) : log.length;
            const kept = log.slice(0, keep);
            log = [...kept, ...randomEvents(dice, kept)];
            await stores.log.append({ ...key, runId: `run-${batch}`, events: log });
            const { snapshot } = (await stores.log.head(key)) ?? {};
            const events = (await eventsFor(stores.webhooks, endpointId)).filter(
              ({ data }) => data.conversationId === key.conversationId,
            );
            expect(waitingFor(events)).toEqual(
              new Map(snapshot?.pending.map((call) => [call.toolCallId, call.deadline])),
            );
            expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
          }
        }
      },
    );
  });
}

/** Some opened and some answered calls, and ends of turns; answers and deadlines often repeat earlier content. */
function randomEvents(dice: Dice, before: readonly CanonicalEvent[]): readonly CanonicalEvent[] {
  const bodies: EventBody[] = [];
  for (let count = 1 + dice.below(4); count > 0; count -= 1) {
    const call = `call-${dice.below(4)}`;
    const waits = isOpen([...before, ...bodies], call);
    const deadline = new Date(DEADLINE_MS + dice.below(2) * 60_000).toISOString();
    if (dice.oneIn(6)) bodies.push(...answers('t1'), ...asks('t1'));
    else bodies.push(waits ? resolves(call) : suspends('t1', call, { deadline }));
  }
  return stamped(bodies, { from: before.length + 1 });
}

function isOpen(events: readonly EventBody[], call: string): boolean {
  const last = events.findLast(
    (event) =>
      (event.type === 'suspension' && event.suspension.toolCallId === call) ||
      (event.type === 'resolution' && event.toolCallId === call) ||
      event.type === 'turn_ended',
  );
  return last?.type === 'suspension';
}

/** The calls that wait according to the events alone, with their deadlines. */
function waitingFor(events: readonly WebhookEvent[]): ReadonlyMap<string, string> {
  const calls = new Map<string, string>();
  for (const { type, data } of events) {
    if (type === 'conversation.suspension.opened') calls.set(data.toolCallId, data.deadline);
    if (type === 'conversation.suspension.ended') calls.delete(data.toolCallId);
  }
  return calls;
}

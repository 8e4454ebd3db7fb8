/**
 * The contract of every adapter of the event log for workers and the agents that they serve. `pass` advances the time
 * of the store.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { AGENT_GONE_MS, WORKER_LIVE_MS } from '../../../src/protocol/limits/service-limits.js';
import type { EventLog } from '../../../src/store/ports/log.js';
import { promise } from '../promise.js';
import { closes, KEY, stamped, started } from '../samples/log-events.js';

export interface PresenceStore {
  readonly log: EventLog;
  readonly pass: (milliseconds: number) => Promise<void>;
}

const settings = { maxSteps: 5, onBusy: 'queue', idleCloseMs: 1, coreRevision: 1 } as const;
const manifest = (name: string) => ({ name, model: 'm', settings, tools: [] });
/** The agent of the logs that `started()` begins. */
const { agent: AGENT } = started() as { readonly agent: string };

export function describePresence(name: string, make: () => Promise<PresenceStore>): void {
  describe(name, () => {
    let open: EventLog | undefined;
    afterEach(async () => {
      await open?.close();
    });
    const store = async (): Promise<PresenceStore> => {
      const made = await make();
      open = made.log;
      await made.log.publishAgents([manifest(AGENT), manifest('other')]);
      return made;
    };
    const goneOf = async (log: EventLog): Promise<readonly string[]> =>
      (await log.agents()).flatMap(({ name: one, notServedSince }) =>
        notServedSince === undefined ? [] : [one],
      );

    it('lists workers that announce themselves, until they stop, or are silent for a minute', async () => {
      const { log, pass } = await store();
      await log.announceWorker({ id: 'w1', agents: { [AGENT]: 'a' } });
      await log.announceWorker({ id: 'w2', agents: { [AGENT]: 'a', other: 'o' } });
      await log.announceWorker({ id: 'w1', agents: { [AGENT]: 'b' } });
      expect(await log.liveWorkers()).toEqual([
        { id: 'w1', agents: { [AGENT]: 'b' } },
        { id: 'w2', agents: { [AGENT]: 'a', other: 'o' } },
      ]);
      await log.withdrawWorker('w2');
      await log.withdrawWorker('w3');
      expect((await log.liveWorkers()).map(({ id }) => id)).toEqual(['w1']);
      await pass(WORKER_LIVE_MS + 1_000);
      expect(await log.liveWorkers()).toEqual([]);
    });

    it('lists the workers that were silent lately, without those that still send beats', {
      ...promise('G233'),
    }, async () => {
      const { log, pass } = await store();
      for (const id of ['w1', 'w2', 'w3']) await log.announceWorker({ id, agents: {} });
      expect(await log.silentWorkers(20_000)).toEqual([]);
      await pass(30_000);
      await log.beatWorker('w1');
      await log.beatWorker('never-announced');
      await log.withdrawWorker('w3');
      expect(await log.silentWorkers(20_000)).toEqual(['w2']);
      expect((await log.liveWorkers()).map(({ id }) => id)).toEqual(['w1', 'w2']);
      await log.announceWorker({ id: 'w2', agents: {} });
      expect(await log.silentWorkers(20_000)).toEqual([]);
      await pass(WORKER_LIVE_MS + 1_000);
      expect(await log.silentWorkers(20_000)).toEqual([]);
    });

    it('says since when no worker serves an agent, while there are workers, and not when one serves it again', {
      ...promise('G221'),
    }, async () => {
      const { log, pass } = await store();
      const before = Date.now();
      await log.announceWorker({ id: 'w1', agents: { [AGENT]: 'a', other: 'o' } });
      await pass(AGENT_GONE_MS - 30_000);
      await log.announceWorker({ id: 'w2', agents: { other: 'o' } });
      expect(await goneOf(log)).toEqual([]);
      await pass(60_000);
      await log.announceWorker({ id: 'w2', agents: { other: 'o' } });
      expect(await goneOf(log)).toEqual([AGENT]);
      const since = (await log.agents()).find((one) => one.name === AGENT)?.notServedSince ?? '';
      expect(Math.abs(Date.parse(since) - before)).toBeLessThan(10 * 60_000);
      await log.announceWorker({ id: 'w3', agents: { [AGENT]: 'a' } });
      expect(await goneOf(log)).toEqual([]);
    });

    it('reports no agent as gone where there is no worker at all', {
      ...promise('G221'),
    }, async () => {
      const { log, pass } = await store();
      await pass(AGENT_GONE_MS + 60_000);
      expect(await goneOf(log)).toEqual([]);
    });

    it('lists the open conversations of agents that are gone', promise('G221'), async () => {
      const { log, pass } = await store();
      const closed = { ...KEY, conversationId: 'closed' };
      await log.append({ ...KEY, runId: 'r1', events: stamped([started()]) });
      await log.append({
        ...closed,
        runId: 'r2',
        events: stamped([started(closed), closes()]),
      });
      expect((await log.list({ attention: 'agent_not_served' })).conversations).toEqual([]);
      await pass(AGENT_GONE_MS + 1_000);
      await log.announceWorker({ id: 'w2', agents: { other: 'o' } });
      const { conversations } = await log.list({ attention: 'agent_not_served' });
      expect(conversations).toMatchObject([
        {
          conversationId: KEY.conversationId,
          attention: { reason: 'agent_not_served', since: expect.any(String) as string },
        },
      ]);
      const all = (await log.list()).conversations;
      expect(all.map(({ attention }) => attention !== undefined).sort()).toEqual([false, true]);
      await log.announceWorker({ id: 'w1', agents: { [AGENT]: 'a' } });
      expect((await log.list({ attention: 'agent_not_served' })).conversations).toEqual([]);
    });
  });
}

/**
 * A worker starts where many conversations have waited for one. Temporal then answers polls of the worker's own queue
 * with tasks of the queue of all, which bring whole histories, too.
 */
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { says, scriptedBy } from '../../../src/model/scripted/scripted.js';
import { MAX_REPLAYS_AT_ONCE } from '../../../src/protocol/limits/service-limits.js';
import { ReplaySlots } from '../../../src/worker/load/replay-slots.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { startEngine } from '../../support/engine/engine.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { type DevServer, startDevServer } from '../../support/servers/dev-server.js';
import { until } from '../../support/until.js';

const CONVERSATIONS = 60;
const TURNS = 2;
const AT_A_TIME = 4;

/** Lets the server's queues learn of each other's backlogs at once instead of after some seconds. */
const AT_ONCE = {
  'matching.backlogNegligibleAge': '20ms',
  'matching.ephemeralDataUpdateInterval': '20ms',
};

let server: DevServer;
beforeAll(async () => {
  server = await startDevServer({ dynamicConfig: AT_ONCE });
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(() => server.stop());

/** The most tasks with whole histories that were under way at once, from now on. */
function watchWhole(): () => number {
  const whole = new Set<unknown>();
  let most = 0;
  const { markSlotUsed, releaseSlot } = ReplaySlots.prototype;
  vi.spyOn(ReplaySlots.prototype, 'markSlotUsed').mockImplementation(function (
    this: ReplaySlots,
    context,
  ) {
    if (!context.slotInfo.isSticky) whole.add(context.permit);
    most = Math.max(most, whole.size);
    markSlotUsed.call(this, context);
  });
  vi.spyOn(ReplaySlots.prototype, 'releaseSlot').mockImplementation(function (
    this: ReplaySlots,
    context,
  ) {
    whole.delete(context.permit);
    releaseSlot.call(this, context);
  });
  return () => most;
}

test('few of many conversations that waited for a worker are replayed at once', {
  ...promise('G30'),
  timeout: patient(120_000),
}, async () => {
  const engine = await startEngine({
    agents: [shop(scriptedBy(() => says('ok')))],
    services: ledger(),
    address: server.address,
  });
  const talks = Array.from({ length: CONVERSATIONS }, () => engine.begin());
  const begun = [...talks];
  await Promise.all(
    Array.from({ length: AT_A_TIME }, async () => {
      for (let talk = begun.pop(); talk !== undefined; talk = begun.pop())
        for (let turn = 0; turn < TURNS; turn += 1)
          await engine.say(talk, 'go', { onBusy: 'queue' });
    }),
  );
  await engine.stopWorker();
  for (const talk of talks)
    for (const requestId of ['a', 'b'])
      await engine.signal(talk, 'sendMessage', { text: 'go', requestId, onBusy: 'queue' });

  const most = watchWhole();
  await engine.startWorker();
  for (const talk of talks) {
    const key = { tenant: 'default', conversationId: talk.id };
    await until('all turns have ended', () => engine.opened.log.read(key, { afterSeq: 0 }), {
      holds: (read) =>
        read?.events.filter(({ type }) => type === 'turn_ended').length === TURNS + 2,
    });
  }
  expect(most()).toBeLessThanOrEqual(2 * MAX_REPLAYS_AT_ONCE);
});

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { responds, says, scriptedBy } from '../../../src/model/scripted/scripted.js';
import type { CanonicalEvent } from '../../../src/protocol/log/events.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { startEngine } from '../../support/engine/engine.js';
import { refundsOnOdd } from '../../support/engine/models.js';
import { askFromOutside } from '../../support/histories/asked-from-outside.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { type DevServer, startDevServer } from '../../support/servers/dev-server.js';

let server: DevServer;

beforeAll(async () => {
  server = await startDevServer({
    dynamicConfig: { 'limit.historyCount.suggestContinueAsNew': 40 },
  });
});

afterAll(() => server.stop());

function countBy(events: readonly CanonicalEvent[], type: CanonicalEvent['type']): number {
  return events.filter((event) => event.type === type).length;
}

test('messages and approvals that arrive during roll-overs are all taken, none twice, and the log is complete', {
  ...promise('G214'),
  timeout: patient(300_000),
}, async () => {
  const services = ledger();
  const engine = await startEngine({
    agents: [shop(refundsOnOdd, { onBusy: 'queue', whileWaiting: 'block' })],
    services,
    address: server.address,
  });
  const talk = engine.begin();
  askFromOutside(engine, engine.workflowId(talk));
  const messages = 40;
  const approvals: Promise<unknown>[] = [];
  // Approves with two clients at once, and repeats an approval that came too early.
  const approve = async (number: number): Promise<void> => {
    const target = { conversationId: talk.id, toolCallId: `refund_${number}` };
    for (;;) {
      const clicks = [engine.client, engine.bareClient].map(async (client) => {
        const verdict = await client.resolve(target, { type: 'approve' });
        return (await verdict.final({ timeout: '120s' })).verdict;
      });
      const verdicts = await Promise.all(clicks);
      if (!verdicts.includes('unknown')) {
        expect(verdicts.sort()).toEqual(['accepted', 'stale']);
        return;
      }
      if (verdicts.includes('accepted')) return;
      await sleep(50);
    }
  };
  const sends: Promise<unknown>[] = [];
  for (let from = 0; from < messages; from += 4) {
    const burst = Array.from({ length: 4 }, (_, index) =>
      talk.send(String(from + index), { requestId: `m${from + index}` }),
    );
    sends.push(...burst);
    await Promise.all(burst);
    for (const number of [from + 1, from + 3]) approvals.push(approve(number));
  }
  await Promise.all(sends);
  await Promise.all(approvals);
  await engine.idle(talk);
  const log = await engine.log(talk);
  expect(countBy(log, 'user_message')).toBe(messages);
  expect(countBy(log, 'turn_ended')).toBe(messages);
  expect(countBy(log, 'resolution')).toBe(messages / 2);
  expect(countBy(log, 'tool_result')).toBe(messages / 2);
  expect(log.every((event) => event.type !== 'turn_ended' || event.status === 'completed')).toBe(
    true,
  );
  expect(services.runs).toHaveLength(messages / 2);
  expect(new Set(services.runs.map(({ ctx }) => ctx.idempotencyKey)).size).toBe(messages / 2);
  const runs = await engine.history.runs(engine.workflowId(talk));
  expect(runs.length).toBeGreaterThan(5);
  expect(countBy(log, 'rolled_over')).toBe(runs.length - 1);
  for (const runId of runs)
    expect(await engine.history.failedTasks(engine.workflowId(talk), runId)).toEqual([]);
  const head = await engine.opened.log.head({ tenant: 'default', conversationId: talk.id });
  expect(head?.generation).toBe(1);
});

test('in a long conversation each run stays short and every turn in order', {
  timeout: patient(120_000),
}, async () => {
  const echo = scriptedBy(() => responds(({ messages }) => says(`${messages.length}`)));
  const engine = await startEngine({
    agents: [shop(echo)],
    services: ledger(),
    address: server.address,
  });
  const talk = engine.begin();
  for (let turn = 1; turn <= 25; turn += 1)
    expect(await engine.say(talk, `message ${turn}`)).toMatchObject({
      status: 'completed',
      text: `${2 * turn - 1}`,
    });
  const runs = await engine.history.runs(engine.workflowId(talk));
  expect(runs.length).toBeGreaterThan(3);
  for (const runId of runs)
    expect((await engine.history.events(engine.workflowId(talk), runId)).length).toBeLessThan(60);
  await engine.log(talk);
});

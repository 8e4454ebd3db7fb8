import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { callsAll, says, script } from '../../../src/model/scripted/scripted.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { startEngine } from '../../support/engine/engine.js';
import { until } from '../../support/until.js';

/**
 * During replay the SDK joins two tasks without commands if an update is in flight: decisions of the first task then
 * get the time of the second. A refused update leaves no trace, so the next replay differs again.
 */
test('a restart and a refused click do not rewrite the log', async () => {
  const letGo: (() => void)[] = [];
  const wait = async (): Promise<string> => {
    await new Promise<void>((resolve) => letGo.push(resolve));
    return 'done';
  };
  const services = ledger({ stock: wait, 'weather.lookup': wait });
  const model = script(
    callsAll([
      { name: 'customer.ask', input: { question: 'A?' } },
      { name: 'stock', input: { item: 'tea' } },
      { name: 'weather.lookup', input: {} },
    ]),
    says('done'),
  );
  const engine = await startEngine({ agents: [shop(model)], services });
  const talk = engine.begin();
  await engine.send(talk, 'hi');
  await until('both tools run', () => letGo.length === 2);
  for (const left of [1, 0]) {
    letGo.shift()?.();
    const open = async (): Promise<number> => (await engine.snapshot(talk)).inFlightTools.length;
    await until('one more has ended', open, { holds: (count) => count === left });
  }
  const before = await engine.log(talk);
  await engine.stopWorker();
  await sleep(50);
  await engine.startWorker();
  expect((await talk.resolve('call_9', { type: 'approve' })).verdict).toBe('unknown');
  const yes = { type: 'answer', value: { answer: 'yes' } } as const;
  expect((await talk.resolve('call_1', yes)).verdict).toBe('accepted');
  await engine.idle(talk);
  const after = await engine.log(talk);
  expect(after.slice(0, before.length)).toEqual(before);
  const head = await engine.opened.log.head({ tenant: 'default', conversationId: talk.id });
  expect(head?.generation).toBe(1);
});

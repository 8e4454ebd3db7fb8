/** What the event log costs a conversation: looks at the newest history events, and not one query of the workflow. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { calls, says, script } from '../../src/model/scripted.js';
import type { Model } from '../../src/protocol/model.js';
import { startEngine } from '../support/engine.js';
import { ledger, shop } from '../support/engine-agents.js';
import { interceptor } from '../support/interceptors.js';

test('turns are projected without a query', async () => {
  const asked: string[] = [];
  const engine = await startEngine({
    agents: [shop(script(calls('weather.lookup', { city: 'Rome' }), says('sunny'), says('bye')))],
    services: ledger(),
    connection: { interceptors: [interceptor((name) => asked.push(name))] },
  });
  const { talk, result } = await engine.ask('weather?');
  expect(result).toMatchObject({ status: 'completed', text: 'sunny' });
  expect(await engine.say(talk, 'thanks')).toMatchObject({ text: 'bye' });
  // Looks go another way; queries would come through here, as this did.
  expect(asked).toContain('GetSystemInfo');
  expect(asked).not.toContain('QueryWorkflow');
});

test('neither is a turn in whose task an inline tool takes its time: the clock of the workflow moves on within the task', async () => {
  const asked: string[] = [];
  const answers = script(calls('clock.read', {}), says('late'));
  let asks = 0;
  const model: Model = {
    name: 'slow',
    generate: async (request, options) => {
      asks += 1;
      // Long enough to have looked at what came before.
      if (asks === 2) await sleep(1_000);
      return await answers.generate(request, options);
    },
  };
  const engine = await startEngine({
    agents: [shop(model)],
    services: ledger({ 'clock.read': () => sleep(50, 'noon') }),
    connection: { interceptors: [interceptor((name) => asked.push(name))] },
  });
  const { result } = await engine.ask('what time is it?');
  expect(result).toMatchObject({ status: 'completed', text: 'late' });
  expect(asked).not.toContain('QueryWorkflow');
});

/** A recorded turn is played again while its worker is killed; processes are those of an installation. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';
import type { Reply } from '../support/api.js';
import type { Scenario } from '../support/scenario-model.js';
import type { Talk } from '../support/talk.js';
import { startWorld, type World } from '../support/world.js';

let world: World;
let talk: Talk;

/** One call, then a text. Requests 3 and 4 are of the what-if: the second step never ends at the first try. */
const twice: Scenario = ({ results }, ask) => {
  if (results.length === 0) return { calls: [{ name: 'slow.pay', input: { label: 'paid-once' } }] };
  return ask === 4
    ? { text: 'one two three four five six seven eight nine ten', chunkDelayMs: 5_000 }
    : { text: `answer ${ask}` };
};

beforeAll(async () => {
  world = await startWorld();
  world.model.answer('pay it', twice);
  talk = world.talk('what-if');
  await world.release('paid-once');
  await talk.begin('clerk', 'pay it');
  await talk.ended();
});
afterAll(async () => {
  await world.stop();
});

it('goes on behind its finished step, runs no tool, and leaves the log as it was', {
  ...promise('G389'),
}, async () => {
  const log = JSON.stringify(await talk.events());
  const begun = await talk.call('/what-if', { body: { instructions: 'Answer in one word.' } });
  expect(begun.status).toBe(202);
  await until('its second step is asked', () => world.model.asked('pay it') === 4);
  await world.stack.worker().kill();
  await world.stack.startWorker();
  const read = async (): Promise<Reply> =>
    await talk.call(`/what-if/${String(begun.body['whatIfId'])}`);
  const { body } = await until('it has ended', read, {
    holds: (reply) => reply.body['state'] !== 'running',
    timeoutMs: 60_000,
  });
  expect(body).toMatchObject({
    ...{ state: 'ended', reason: 'answered' },
    steps: [
      { compared: 'same' },
      { compared: 'differs', recorded: { text: 'answer 2' }, answer: { text: 'answer 5' } },
    ],
  });
  // The first step was not asked again.
  expect(world.model.asked('pay it')).toBe(5);
  expect(await world.lines('runs.jsonl')).toHaveLength(1);
  expect(JSON.stringify(await talk.events())).toBe(log);
});

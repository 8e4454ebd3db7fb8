/** Plans of agents on a real server: schedules of Temporal that wake the agent, also once its worker was away. */
import { expect, test } from 'vitest';
import { defineAgent } from '../../../src/index.js';
import { calls, type ScriptedModel, says, script } from '../../../src/model/scripted/scripted.js';
import { spacesPlugin } from '../../../src/spaces/index.js';
import { startEngine } from '../../support/engine/engine.js';
import { eventsIn, schedulesOf } from '../../support/engine/triggers.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

const plan = { id: 'report', name: 'Report', instruction: 'Write the report.' };

const started = (model: ScriptedModel) =>
  startEngine({
    agents: [
      defineAgent({ name: 'clerk', model, instructions: 'Help.', plugins: [spacesPlugin()] }),
    ],
  });

test('a plan wakes its agent with its instruction, once, and is gone', {
  ...promise('H34'),
  timeout: patient(60_000),
}, async () => {
  const engine = await started(
    script(
      calls('set_plans', { plans: [{ ...plan, runAfter: '3 seconds' }] }),
      says('planned'),
      says('written'),
    ),
  );
  const { talk, result } = await engine.ask('Plan the report');
  expect(result).toMatchObject({ status: 'completed', text: 'planned' });
  expect(await schedulesOf(engine, talk)).toHaveLength(1);
  // The server keeps the time while no worker is up.
  await engine.stopWorker();
  await engine.startWorker();
  const [woken] = await until('the plan comes', () => eventsIn(engine, talk), {
    holds: (seen) => seen.length > 0,
  });
  expect(woken).toMatchObject({
    kind: 'trigger',
    payload: { title: 'Report', goal: 'Write the report.' },
  });
  await engine.idle(talk);
  const said = (await engine.log(talk)).filter(({ type }) => type === 'assistant_message').at(-1);
  expect(said).toMatchObject({ parts: [{ type: 'text', text: 'written' }] });
  await until('its schedule is removed', () => schedulesOf(engine, talk), {
    holds: (ids) => ids.length === 0,
  });
  expect(await eventsIn(engine, talk)).toHaveLength(1);
});

test('a plan is replaced by its id, and deleted with its schedule', promise('H34'), async () => {
  const set = (cron: string) => calls('set_plans', { plans: [{ ...plan, cron }] });
  const engine = await started(
    script(
      set('0 9 * * *'),
      says('planned'),
      set('0 10 * * *'),
      says('later'),
      calls('delete_plans', { planIds: ['report'] }),
      says('deleted'),
    ),
  );
  const { talk } = await engine.ask('Plan the report');
  const [first] = await schedulesOf(engine, talk);
  await engine.say(talk, 'Later, please');
  const [second, ...others] = await until('one schedule is left', () => schedulesOf(engine, talk), {
    holds: (ids) => ids.length === 1 && ids[0] !== first,
  });
  expect(others).toEqual([]);
  expect(second).not.toBe(first);
  await engine.say(talk, 'Forget it');
  await until('none is left', () => schedulesOf(engine, talk), {
    holds: (ids) => ids.length === 0,
  });
});

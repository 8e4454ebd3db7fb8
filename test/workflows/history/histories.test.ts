/**
 * Conversations as Temporal records them. Each must replay on the code that made it. `npm run record:histories` adds
 * those that `test/replay/histories` does not have yet; later versions must replay these for ever.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { defineAgent } from '../../../src/index.js';
import { calls, says, script } from '../../../src/model/scripted/scripted.js';
import { whatIfWorkflowId } from '../../../src/protocol/workflow/what-if.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { startEngine } from '../../support/engine/engine.js';
import { replay, replayAll } from '../../support/engine/replay.js';
import { runsOf, soon } from '../../support/engine/triggers.js';
import { expectNeutral, neutralJson } from '../../support/histories/neutral-history.js';
import { SCENARIOS } from '../../support/histories/scenarios/index.js';
import { converse, historiesOf } from '../../support/histories/scenarios/scenario.js';
import { until } from '../../support/until.js';

/** Folder of the recorded histories. Absent: none is recorded. */
const FOLDER = process.env['COLLOQUY_RECORD_HISTORIES'];

/** Records a history unless it is kept already. */
function keep(name: string, json: string): void {
  const file = join(FOLDER ?? '', `${name}.json`);
  if (FOLDER !== undefined && !existsSync(file)) writeFileSync(file, `${json}\n`);
}

test('a run of a trigger replays', async () => {
  const id = 'recorded-trigger';
  const model = script(says('hello'), says('done'));
  const agent = defineAgent({ name: 'clerk', model, instructions: 'Help.' });
  const engine = await startEngine({ agents: [agent], taskQueue: id });
  const talk = engine.begin(id);
  await engine.say(talk, 'hello');
  const schedule = { type: 'once', value: soon() } as const;
  await talk.triggers().create({ id: 'wake', title: 'Wake', goal: 'Look.', schedule });
  const ended = await until('its run ends', () => runsOf(engine, talk), {
    holds: (seen) => seen.some(({ status }) => status === 'COMPLETED'),
  });
  const handle = engine.temporal.workflow.getHandle(ended[0]?.workflowId ?? '');
  const json = neutralJson(await handle.fetchHistory());
  await replay({ codePath: inject('workflowBundlePath') }, JSON.parse(json));
  expectNeutral(json);
  keep('trigger', json);
});

test('a what-if replays', async () => {
  const id = 'recorded-what-if';
  const lookUp = calls('stock', { item: 'tea' });
  const model = script(lookUp, says('much'), lookUp, says('enough'));
  const engine = await startEngine({
    ...{ agents: [shop(model)], services: ledger(), taskQueue: id },
  });
  const talk = engine.begin(id);
  await engine.say(talk, 'hello');
  const { whatIfId, result } = await talk.whatIf({ instructions: 'Be brief.', requestId: id });
  expect(await result()).toMatchObject({ state: 'ended' });
  const workflowId = whatIfWorkflowId({ tenant: talk.tenant, conversationId: id }, whatIfId);
  const json = neutralJson(await engine.temporal.workflow.getHandle(workflowId).fetchHistory());
  await replay({ codePath: inject('workflowBundlePath') }, JSON.parse(json));
  expectNeutral(json);
  keep('what-if', json);
});

test.each(SCENARIOS)('a conversation replays: $name', async (scenario) => {
  const { engine, talk } = await converse(scenario);
  const workflowId = engine.workflowId(talk);
  const runs = await engine.history.runs(workflowId);
  const names = historiesOf(scenario);
  expect(runs).toHaveLength(names.length);
  const histories: { workflowId: string; history: unknown }[] = [];
  for (const [index, runId] of runs.entries()) {
    const handle = engine.temporal.workflow.getHandle(workflowId, runId);
    const json = neutralJson(await handle.fetchHistory());
    histories.push({ workflowId, history: JSON.parse(json) });
    expectNeutral(json);
    keep(names[index] ?? '', json);
  }
  // By one worker, because one for each run costs more than the replay.
  await replayAll({ codePath: inject('workflowBundlePath') }, histories);
});

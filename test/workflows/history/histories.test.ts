/**
 * Conversations as Temporal records them. Each must replay on the code that made it. `npm run record:histories` adds
 * those that `test/replay/histories` does not have yet; later versions must replay these for ever.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { replay } from '../../support/engine/replay.js';
import { expectNeutral, neutralJson } from '../../support/histories/neutral-history.js';
import { SCENARIOS } from '../../support/histories/scenarios/index.js';
import { converse, historiesOf } from '../../support/histories/scenarios/scenario.js';

/** Folder of the recorded histories. Absent: none is recorded. */
const FOLDER = process.env['COLLOQUY_RECORD_HISTORIES'];

test.each(SCENARIOS)('a conversation replays: $name', async (scenario) => {
  const { engine, talk } = await converse(scenario);
  const workflowId = engine.workflowId(talk);
  const runs = await engine.history.runs(workflowId);
  const names = historiesOf(scenario);
  expect(runs).toHaveLength(names.length);
  for (const [index, runId] of runs.entries()) {
    const handle = engine.temporal.workflow.getHandle(workflowId, runId);
    const json = neutralJson(await handle.fetchHistory());
    await replay({ codePath: inject('workflowBundlePath') }, JSON.parse(json));
    expectNeutral(json);
    if (FOLDER === undefined) continue;
    const file = join(FOLDER, `${names[index] ?? ''}.json`);
    if (!existsSync(file)) writeFileSync(file, `${json}\n`);
  }
});

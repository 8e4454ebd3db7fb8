/** Conversations that make their own engine: under load, and with peers that quote secrets. */
import { expect, inject } from 'vitest';
import { plantSecrets } from '../../started-engines/planted-secrets.js';
import { until } from '../../until.js';
import { pushUntilRollOver, sendEveryInput, startLoadedRun, WAIT, YES } from '../loaded-run.js';
import type { Recorded, Scenario } from './scenario.js';

async function rolledOverUnderLoad(id: string): Promise<Recorded> {
  const loaded = await startLoadedRun(inject('temporalAddress'), {}, id);
  const { engine, talk, store } = loaded;
  await pushUntilRollOver(loaded, async () => {
    await engine.signal(talk, 'rollOver');
  });
  await sendEveryInput(loaded);
  store.release();
  const types = async (): Promise<readonly string[]> => await engine.logTypes(talk);
  await until('the run rolled over', types, { holds: (seen) => seen.includes('rolled_over') });
  await talk.resolve(WAIT, YES);
  await talk.cancel();
  await until('all turns have ended', types, {
    holds: (seen) => seen.filter((type) => type === 'turn_ended').length >= 3,
  });
  await engine.idle(talk);
  const [before = ''] = await engine.history.runs(engine.workflowId(talk));
  const lines = await engine.history.lines(engine.workflowId(talk), before);
  const whileFlushing = lines.slice(lines.findIndex((line) => line.endsWith('flushLog')));
  expect(whileFlushing).toContain('WorkflowExecutionUpdateAccepted sendMessage');
  expect(whileFlushing).toContain('WorkflowExecutionSignaled resolveToolCall');
  return { engine, talk };
}

export const SCENARIOS_OF_OWN_ENGINES: readonly Scenario[] = [
  { name: 'rolled-over-under-load', runs: 2, converse: rolledOverUnderLoad },
  {
    name: 'quoted-secrets',
    converse: async (id) => await plantSecrets({ name: id, more: { taskQueue: id } }),
  },
];

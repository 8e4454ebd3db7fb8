/** Several installations share a namespace, each with its task queue and its store. */
import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { says, script } from '../../../src/model/scripted/scripted.js';
import { openEventLog } from '../../../src/projection/index.js';
import { Projector } from '../../../src/projection/projector/projector.js';
import { StartupCheck } from '../../../src/projection/projector/startup-check.js';
import { Sweep } from '../../../src/projection/projector/sweep.js';
import { createWorkflowSource } from '../../../src/projection/source/workflow-source.js';
import { ledger, shop } from '../../support/engine/agents.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import { patientClient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { temporaryFolder } from '../../support/temporary.js';
import { until } from '../../support/until.js';

/** An installation with a conversation that runs and one that is closed; resolves to their ids. */
async function installation(taskQueue: string) {
  const agents = [shop(script(says('hello'), says('hello'), says('bye')))];
  const engine = await startEngine({ agents, services: ledger(), taskQueue });
  const { talk: running } = await engine.ask();
  const { talk: closed } = await engine.ask();
  await closed.close();
  return { engine, ids: [running.id, closed.id] };
}

/** Ids of the conversations that workers of the queue bring into an empty store. */
async function broughtIn(engine: Engine, least: number): Promise<readonly string[]> {
  const { log, live, close } = await openEventLog(`${temporaryFolder()}/log.db`);
  onTestFinished(close);
  const { taskQueue } = engine;
  const source = createWorkflowSource(
    patientClient(engine.temporal, () => true),
    { taskQueue },
  );
  const projector = new Projector({ log, live, source });
  const ids = async (): Promise<readonly string[]> =>
    (await log.list({ tenant: 'default' })).conversations.map((each) => each.conversationId);
  const found = await until(
    'the store is filled',
    async () => {
      await new StartupCheck({ log, source, projector, intervalMs: 1 }).run();
      const sweep = new Sweep({ log, source, projector });
      await sweep.pass();
      await sweep.stop();
      await projector.drain();
      return await ids();
    },
    { holds: (stored) => stored.length >= least },
  );
  return [...found].sort();
}

test('an installation stores the conversations of its own task queue only', {
  ...promise('G374'),
}, async () => {
  const first = await installation(`one ${randomUUID()}`);
  const second = await installation(`another ${randomUUID()}`);
  expect(await broughtIn(first.engine, 2)).toEqual([...first.ids].sort());
  expect(await broughtIn(second.engine, 2)).toEqual([...second.ids].sort());
  const own = await second.engine.opened.log.list({ tenant: 'default' });
  expect(own.conversations.map(({ conversationId }) => conversationId).sort()).toEqual(
    [...second.ids].sort(),
  );
});

test('the workers of each queue of a store have a leader, since each lists its own conversations', {
  ...promise('G374'),
}, async () => {
  const { log, live, close } = await openEventLog(`${temporaryFolder()}/log.db`);
  onTestFinished(close);
  const { engine } = await installation(`one-${randomUUID()}`);
  const leads = async (taskQueue: string) => {
    const source = createWorkflowSource(engine.temporal, { taskQueue });
    const projector = new Projector({ log, live, source });
    return (await new Sweep({ log, source, projector }).pass()) !== undefined;
  };
  expect([await leads('a'), await leads('b'), await leads('a')]).toEqual([true, true, false]);
});

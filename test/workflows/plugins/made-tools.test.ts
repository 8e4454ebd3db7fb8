/** Tools made at run time on a real server: their calls wait, roll over, and run on workers that did not make them. */
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { Conversation } from '../../../src/client/index.js';
import { type Agent, defineAgent, definePlugin, defineTool } from '../../../src/index.js';
import { callsAll, says, scriptedBy } from '../../../src/model/scripted/scripted.js';
import { openEventLog } from '../../../src/projection/index.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import { promise } from '../../support/promise.js';
import { temporaryFolder } from '../../support/temporary.js';
import { until } from '../../support/until.js';

const base = {
  description: 'A tool of today.',
  approval: 'required',
  input: z.object({}),
} as const;

function tool(name: string, worker: string) {
  return defineTool({ ...base, name, run: () => `${name} on ${worker}` });
}

function agentOn(worker: string, { isOld = false } = {}): Agent {
  const day = definePlugin({
    id: 'day',
    factories: isOld
      ? {}
      : { task: (args) => tool(`day.task.${z.object({ of: z.string() }).parse(args).of}`, worker) },
    prepare: ({ tools }) => {
      if (isOld) return;
      tools.make('task', { of: 'monday' });
      tools.add(tool('day.note', worker));
    },
  });
  const both = callsAll([
    { name: 'day.task.monday', input: {} },
    { name: 'day.note', input: {} },
  ]);
  const model = scriptedBy(({ messages }) =>
    messages.at(-1)?.role === 'tool' ? says('done') : both,
  );
  return defineAgent({ name: 'planner', model, instructions: 'Plan.', plugins: [day] });
}

async function approveBoth(engine: Engine, talk: Conversation): Promise<readonly unknown[]> {
  const pending = await until('both calls wait', () => talk.pending(), {
    holds: ({ length }) => length === 2,
  });
  for (const { toolCallId } of pending) await talk.resolve(toolCallId, { type: 'approve' });
  await engine.idle(talk);
  const log = await engine.log(talk);
  return log.flatMap((event) => (event.type === 'tool_result' ? [event.result.envelope] : []));
}

/** Two calls wait, and the run is continued as new; then the worker that has made their tools is gone. */
async function waitingOverDeploy(next: Agent): Promise<{ engine: Engine; talk: Conversation }> {
  const opened = await openEventLog(`${temporaryFolder()}/log.db`);
  onTestFinished(() => opened.close());
  const first = await startEngine({ agents: [agentOn('first')], eventLog: opened });
  const { talk } = await first.ask('Plan the day');
  await first.reaches(talk, 'awaiting_input');
  const runs = (): Promise<readonly string[]> => first.history.runs(first.workflowId(talk));
  await first.signal(talk, 'rollOver');
  await until('a new run begins', runs, { holds: ({ length }) => length > 1 });
  await first.stopWorker();
  const engine = await startEngine({
    ...{ agents: [next], eventLog: opened },
    taskQueue: first.taskQueue,
  });
  return { engine, talk: engine.client.conversation(talk.id, { agent: 'planner' }) };
}

test(
  'a worker that has not made them runs the calls of both kinds, also after a roll-over',
  promise('G307'),
  async () => {
    const { engine, talk } = await waitingOverDeploy(agentOn('second'));
    expect(await approveBoth(engine, talk)).toEqual([
      { ok: true, result: 'day.task.monday on second' },
      { ok: true, result: 'day.note on second' },
    ]);
  },
);

test(
  'after a deploy without the tools their calls end as no longer available, and the turn ends',
  promise('G308'),
  async () => {
    const { engine, talk } = await waitingOverDeploy(agentOn('second', { isOld: true }));
    const gone = { ok: false, error: { code: 'not_available', message: /no longer available/ } };
    expect(await approveBoth(engine, talk)).toMatchObject([gone, gone]);
    expect(await talk.snapshot()).toMatchObject({ status: 'idle' });
  },
);

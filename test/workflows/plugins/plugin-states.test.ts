/** States of plugins on a real server: over workers that alternate, roll-overs, a gate, and a new worker. */
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { Conversation } from '../../../src/client/index.js';
import { defineAgent, definePlugin, defineTool } from '../../../src/index.js';
import { calls, says, scriptedBy } from '../../../src/model/scripted/scripted.js';
import { openEventLog } from '../../../src/projection/index.js';
import type { ModelRequest } from '../../../src/protocol/model/model.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import { promise } from '../../support/promise.js';
import { temporaryFolder } from '../../support/temporary.js';
import { until } from '../../support/until.js';

const KILOBYTE = 'x'.repeat(1_000);
/** A state of 100 KB, of which each turn changes a hundredth. */
const notes = definePlugin({
  id: 'notes',
  state: z.object({
    turns: z.number().default(0),
    pages: z.record(z.string(), z.string()).default({}),
  }),
  prepare: ({ state, context }) => {
    const { turns, pages } = state.getState(notes);
    context.add(`turns ${turns}, pages ${Object.keys(pages).length}`);
  },
  tools: (self) => [
    defineTool({
      name: 'notes.write',
      description: 'Write',
      input: z.object({ page: z.string() }),
      run: ({ page }, ctx) => {
        const { turns } = ctx.getState(self);
        ctx.patchState(
          self,
          { op: 'increment', path: '/turns', by: 1 },
          { op: 'set', path: `/pages/${page}`, value: KILOBYTE },
        );
        return { turns };
      },
    }),
    defineTool({
      name: 'notes.fill',
      description: 'Fill',
      input: z.object({}),
      approval: 'required',
      run: (_, ctx) => {
        const pages = Object.fromEntries(
          Array.from({ length: 100 }, (_p, n) => [`p${n}`, KILOBYTE]),
        );
        ctx.setState(self, { ...ctx.getState(self), pages });
        return null;
      },
    }),
  ],
});

/** Calls the tool that the message names, with the number of the message. */
const model = scriptedBy(({ messages }: ModelRequest) => {
  const said = messages.filter(({ role, id }) => role === 'user' && !id.endsWith('.context'));
  const [part] = said.at(-1)?.parts ?? [];
  const text = part?.type === 'text' ? part.text : '';
  const isAsked = messages.findLast(({ id }) => !id.endsWith('.context'))?.role === 'user';
  const context = messages.at(-1)?.parts[0];
  if (!isAsked) return says(context?.type === 'text' ? (context.text.split('\n')[1] ?? '') : '');
  return text === 'fill'
    ? calls('notes.fill', {})
    : calls('notes.write', { page: `p${said.length % 100}` });
});

const agent = defineAgent({ name: 'clerk', model, instructions: 'Write.', plugins: [notes] });

async function rollOver(engine: Engine, talk: Conversation): Promise<void> {
  const runs = (): Promise<readonly string[]> => engine.history.runs(engine.workflowId(talk));
  const before = (await runs()).length;
  await engine.signal(talk, 'rollOver');
  await until('a new run begins', runs, { holds: ({ length }) => length > before });
}

test(
  'the state is the same on every worker, over roll-overs and a gate that outlives all workers',
  promise('G303'),
  async () => {
    const opened = await openEventLog(`${temporaryFolder()}/log.db`);
    onTestFinished(() => opened.close());
    const options = {
      agents: [agent],
      eventLog: opened,
      tuning: { maxCachedWorkflows: 0, maxConcurrentActivityTaskExecutions: 1 },
    };
    const engine = await startEngine(options);
    const other = await startEngine({ ...options, taskQueue: engine.taskQueue });
    const talk = engine.begin();
    for (let turn = 1; turn <= 4; turn += 1) {
      const result = await engine.say(talk, 'write');
      expect(result).toMatchObject({ status: 'completed', text: `turns ${turn}, pages ${turn}` });
      if (turn % 2 === 0) await rollOver(engine, talk);
    }
    await engine.send(talk, 'fill');
    await engine.reaches(talk, 'awaiting_input');
    await engine.stopWorker();
    await other.stopWorker();
    const [gated] = (await talk.snapshot()).pending;
    await engine.startWorker();
    await talk.resolve(gated?.toolCallId ?? '', { type: 'approve' });
    await engine.idle(talk);
    expect(await engine.say(talk, 'write')).toMatchObject({ text: 'turns 5, pages 100' });
  },
);

test(
  'a client reads them with the worker, and from the log without one; a deleted conversation has none',
  promise('G309'),
  async () => {
    const engine = await startEngine({ agents: [agent] });
    const talk = engine.begin();
    await engine.say(talk, 'write');
    await rollOver(engine, talk);
    await engine.say(talk, 'write');
    const { seq } = await talk.snapshot({ atLeastSeq: 1 });
    const now = await talk.pluginStates();
    expect(now).toEqual({
      seq,
      states: { notes: { version: 1, value: { turns: 2, pages: { p1: KILOBYTE, p2: KILOBYTE } } } },
    });
    await engine.stopWorker();
    expect(await talk.pluginStates()).toEqual(now);
    await engine.startWorker();
    await talk.close();
    await engine.client.deleteConversation(talk.id);
    await expect(talk.pluginStates()).rejects.toMatchObject({ code: 'unknown_conversation' });
  },
);

test(
  'history grows by the changes of a large state, not by the state',
  promise('G304'),
  async () => {
    const engine = await startEngine({ agents: [agent] });
    const talk = engine.begin();
    await engine.send(talk, 'fill');
    await engine.reaches(talk, 'awaiting_input');
    await talk.resolve('call_1', { type: 'approve' });
    await engine.idle(talk);
    const size = async (): Promise<number> => {
      const { raw } = await engine.history.describe(engine.workflowId(talk));
      return Number(raw.workflowExecutionInfo?.historySizeBytes);
    };
    const before = await size();
    for (let turn = 1; turn <= 10; turn += 1) await engine.say(talk, 'write');
    const perTurn = ((await size()) - before) / 10;
    // A turn without a state has about 6 KB; the change of 1 KB is in the result of the tool and up to twice in inputs of activities.
    expect(perTurn).toBeLessThan(14_000);
  },
);

test(
  'plugins are set up before the worker takes work, and disposed of when it has ended',
  promise('G306'),
  async () => {
    const noted: string[] = [];
    const plugin = definePlugin({
      id: 'noted',
      setup: () => void noted.push('setup'),
      ready: () => void noted.push('ready'),
      prepare: () => void noted.push('prepare'),
      dispose: () => void noted.push('dispose'),
    });
    const silent = scriptedBy(() => says('ok'));
    const engine = await startEngine({
      agents: [defineAgent({ name: 'clerk', model: silent, instructions: 'x', plugins: [plugin] })],
    });
    await engine.ask();
    await engine.stopWorker();
    expect(noted).toEqual(['setup', 'ready', 'prepare', 'dispose']);
  },
);

test(
  'a worker does not start when setup fails, and the error names plugin and function',
  promise('G306'),
  async () => {
    const noted: string[] = [];
    const broken = definePlugin({
      id: 'broken',
      setup: () => {
        throw new Error('no key');
      },
      dispose: () => void noted.push('dispose'),
    });
    const silent = scriptedBy(() => says('ok'));
    await expect(
      startEngine({
        agents: [
          defineAgent({ name: 'clerk', model: silent, instructions: 'x', plugins: [broken] }),
        ],
      }),
    ).rejects.toThrow('Plugin "broken" failed in setup, so the worker does not start: no key');
    expect(noted).toEqual(['dispose']);
  },
);

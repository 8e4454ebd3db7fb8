/**
 * Several workers alternate on the tasks of one conversation, over parallel calls, roll-overs and a summary: the model
 * reads the same for any cache size.
 */
import { expect, onTestFinished, test } from 'vitest';
import type { Conversation } from '../../../src/client/index.js';
import { defineAgent } from '../../../src/define/define-agent.js';
import { callsAll, says, scriptedBy } from '../../../src/model/scripted/scripted.js';
import { openEventLog } from '../../../src/projection/index.js';
import type { Message } from '../../../src/protocol/conversation/messages.js';
import type { Model, ModelRequest } from '../../../src/protocol/model/model.js';
import { ledger, type Services, TOOLS } from '../../support/engine/agents.js';
import { type Engine, type EngineOptions, startEngine } from '../../support/engine/engine.js';
import { promise } from '../../support/promise.js';
import { temporaryFolder } from '../../support/temporary.js';
import { until } from '../../support/until.js';

const TURNS = 6;

/**
 * Asks for two calls at once for each message, then answers. Collects the messages of each request with the name of its
 * worker.
 */
function model(worker: string, given: { worker: string; messages: readonly Message[] }[]): Model {
  const scripted = scriptedBy(({ messages }) =>
    messages.at(-1)?.role === 'user'
      ? callsAll(['tea', 'rice'].map((item) => ({ name: 'stock', input: { item } })))
      : says('There is some.'),
  );
  return {
    name: 'scripted',
    generate: async (request: ModelRequest, options) => {
      given.push({ worker, messages: request.messages });
      return await scripted.generate(request, options);
    },
  };
}

async function rollOver(engine: Engine, talk: Conversation): Promise<void> {
  const runs = (): Promise<readonly string[]> => engine.history.runs(engine.workflowId(talk));
  const before = (await runs()).length;
  await engine.signal(talk, 'rollOver');
  await until('a new run begins', runs, {
    holds: ({ length }) => length > before,
  });
}

const WAYS: readonly (readonly [
  name: string,
  cacheBytes: number | undefined,
  transcripts: 'full' | undefined,
])[] = [
  ['nothing', 0, undefined],
  ['little', 2_000, undefined],
  ['everything', undefined, undefined],
  ['nothing, and are sent everything every time', 0, 'full'],
];

test.each(WAYS)(
  'the model reads the same with workers that remember %s',
  promise('G193'),
  async (_name, cacheBytes, transcripts) => {
    const opened = await openEventLog(`${temporaryFolder()}/log.db`);
    onTestFinished(() => opened.close());
    const given: { worker: string; messages: readonly Message[] }[] = [];
    const options = (worker: string): EngineOptions<Services> => ({
      agents: [
        defineAgent<Services>({
          name: 'clerk',
          model: model(worker, given),
          instructions: 'Look it up.',
          tools: TOOLS,
          settings: transcripts === undefined ? {} : { transcripts },
        }),
      ],
      services: ledger(),
      eventLog: opened,
      ...(cacheBytes === undefined ? {} : { transcriptCacheBytes: cacheBytes }),
      // A task that is not completed at once may go to the other worker.
      tuning: { maxCachedWorkflows: 0, maxConcurrentActivityTaskExecutions: 1 },
    });
    const engine = await startEngine(options('a'));
    await startEngine({ ...options('b'), taskQueue: engine.taskQueue });
    const talk = engine.begin();
    for (let turn = 1; turn <= TURNS; turn += 1) {
      expect(await engine.say(talk, `question ${turn}`)).toMatchObject({ status: 'completed' });
      if (turn % 2 === 0) await rollOver(engine, talk);
    }
    // Two requests for each turn; each begins with the same bytes as its predecessor.
    expect(given.map(({ messages }) => messages.length)).toEqual(
      Array.from({ length: TURNS }, (_, turn) => [4 * turn + 1, 4 * turn + 3]).flat(),
    );
    for (const [index, { messages }] of given.entries()) {
      const before = given[index - 1]?.messages ?? [];
      expect(JSON.stringify(messages.slice(0, before.length))).toBe(JSON.stringify(before));
    }
    await engine.log(talk);
    const runs = await engine.history.runs(engine.workflowId(talk));
    expect(runs).toHaveLength(1 + TURNS / 2);
    for (const runId of runs)
      expect(await engine.history.failedTasks(engine.workflowId(talk), runId)).toEqual([]);
    expect(new Set(given.map(({ worker }) => worker)).size).toBe(2);
  },
);

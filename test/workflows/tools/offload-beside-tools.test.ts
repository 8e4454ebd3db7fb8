/** Turns that need to offload their transcript while a detached tool runs, or when there is no blob store. */
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { Conversation } from '../../../src/client/index.js';
import { type Agent, defineAgent } from '../../../src/define/define-agent.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { callsAll, says, script } from '../../../src/model/scripted/scripted.js';
import type { ScriptedCall } from '../../../src/model/scripted/types.js';
import { openEventLog } from '../../../src/projection/index.js';
import { OFFLOAD_TURN_BYTES } from '../../../src/protocol/limits/limits.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import { replays } from '../../support/engine/replays.js';
import { dig, KB } from '../../support/histories/digging.js';
import { promise } from '../../support/promise.js';
import { temporaryFolder } from '../../support/temporary.js';
import { until } from '../../support/until.js';

/** A detached tool that runs until it is released. */
function watching() {
  const held = { release: (): void => undefined };
  const released = new Promise<void>((resolve) => {
    held.release = resolve;
  });
  onTestFinished(held.release);
  const tool = defineTool({
    name: 'watch',
    description: 'Watches, for as long as there is something to be seen.',
    mode: 'detach',
    input: z.object({}),
    run: async () => {
      await released;
      return 'seen';
    },
  });
  return { tool, held };
}

function agentOf(model: Agent['model'], tools: Agent['tools']): Agent {
  return defineAgent({
    name: 'digger',
    model,
    instructions: 'Dig.',
    tools,
    settings: { maxSteps: 100 },
    context: { maxTokens: 8_000_000, summarize: false, retention: 'never_evict' },
  });
}

async function withoutBlobs() {
  const { blobs: _none, ...opened } = await openEventLog(`${temporaryFolder()}/log.db`);
  onTestFinished(() => opened.close());
  return opened;
}

const digs = (count: number, bytes: number): readonly ScriptedCall[] =>
  Array.from({ length: count }, (_, at) => ({ name: 'dig', input: { at: `${at}`, bytes } }));

/** How often this run tried to store something. */
async function tries(engine: Engine, talk: Conversation): Promise<number> {
  const lines = await engine.history.lines(engine.workflowId(talk));
  return lines.filter((line) => line.includes('offloadTranscript')).length;
}

test('without a blob store a turn that is too large fails at once, also while a detached tool runs, whose result still arrives', {
  ...promise('G192'),
}, async () => {
  const { tool, held } = watching();
  const model = script(
    callsAll([{ name: 'watch', input: {} }, ...digs(9, 190 * KB)]),
    says('Seen'),
  );
  const eventLog = await withoutBlobs();
  const engine = await startEngine({ agents: [agentOf(model, [dig, tool])], eventLog });
  const { talk, result } = await engine.ask('dig');
  expect(result).toMatchObject({ status: 'failed', error: { code: 'model_context_too_long' } });
  held.release();
  const next = await until(
    'the turn that reads it has ended',
    async () => {
      const log = await engine.log(talk);
      return log.findLast((event) => event.type === 'turn_ended');
    },
    { holds: (found) => found?.turnId !== result.turnId },
  );
  expect(next).toMatchObject({ status: 'completed', text: 'Seen' });
  await replays(engine, talk);
});

test('with a blob store the turn waits for the tool, and continues in the next run with its whole transcript', {
  ...promise('G192'),
}, async () => {
  const { tool, held } = watching();
  const model = script(
    callsAll([{ name: 'watch', input: {} }, ...digs(9, 190 * KB)]),
    says('Read'),
    says('Seen'),
  );
  const engine = await startEngine({ agents: [agentOf(model, [dig, tool])] });
  const talk = engine.begin();
  const turn = await engine.send(talk, 'dig');
  await until('it waits', () => engine.history.lines(engine.workflowId(talk)), {
    holds: (lines) =>
      lines.lastIndexOf('TimerStarted') >
      lines.findIndex((line) => line.includes('offloadTranscript')),
  });
  expect(model.requests).toHaveLength(1);
  held.release();
  expect(await turn.result({ timeout: '20s' })).toMatchObject({
    status: 'completed',
    text: 'Seen',
  });
  const results = model.requests[1]?.messages.flatMap((message) =>
    message.role === 'tool' ? message.parts : [],
  );
  expect(results).toHaveLength(10);
  expect(
    results?.filter(({ envelope }) => JSON.stringify(envelope).length > 190 * KB),
  ).toHaveLength(9);
  expect((await engine.log(talk)).filter(({ type }) => type === 'inbox_event')).toHaveLength(1);
  await replays(engine, talk);
});

test('without a blob store a run tries to offload only once', async () => {
  expect(4 * 190 * KB).toBeGreaterThan(OFFLOAD_TURN_BYTES);
  const steps = Array.from({ length: 30 }, () => callsAll(digs(1, 10)));
  const model = script(callsAll(digs(4, 190 * KB)), ...steps, says('Done'));
  const eventLog = await withoutBlobs();
  const engine = await startEngine({ agents: [agentOf(model, [dig])], eventLog });
  const { talk, result } = await engine.ask('dig');
  expect(result).toMatchObject({ status: 'completed', text: 'Done' });
  expect((await engine.log(talk)).length).toBeGreaterThan(100);
  expect(await tries(engine, talk)).toBe(1);
  await replays(engine, talk);
});

/**
 * Kept histories, carried on: each conversation of test/replay/histories is imported into a Temporal server as it was recorded,
 * and continued by the present code to its end. A replay alone only shows that what was decided is decided again.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exampleResolution } from '../../src/cli/example-answer.js';
import { type Agent, defineAgent } from '../../src/define/agent.js';
import { says, scriptedBy } from '../../src/model/scripted.js';
import type { ConversationSnapshot } from '../../src/protocol/conversation.js';
import type { Resolution } from '../../src/protocol/resolutions.js';
import type { PendingCall } from '../../src/protocol/suspensions.js';
import type { DevServer } from '../support/dev-server.js';
import { type Engine, startEngine } from '../support/engine.js';
import { ledger, type Services, shop } from '../support/engine-agents.js';
import { importingServer, importRun, type RecordedRun, runOf } from '../support/history-import.js';
import { SCENARIOS_OF_TOOLS, type Talk } from '../support/history-scenarios.js';
import { SCENARIOS_OF_WAITS } from '../support/history-waits.js';
import { until } from '../support/until.js';

const HISTORIES = new URL('../replay/histories/', import.meta.url);
const PATIENCE_MS = 30_000;
/** Of one conversation: more than any history leaves open. */
const MOST_ANSWERS = 20;

/** The files of each conversation, its runs in their order. */
const conversations = new Map<string, readonly string[]>();
for (const file of readdirSync(HISTORIES).sort()) {
  const name = file.replace(/(-run-\d+)?\.json$/, '');
  conversations.set(name, [...(conversations.get(name) ?? []), file]);
}

let folder = '';
let server: DevServer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'colloquy-imported-'));
  server = await importingServer(folder);
});

afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** For every agent; the rest of an agent stands in the scenario of its history. */
const model = scriptedBy(() => says('It goes on.'));

function agentOf(name: string, run: RecordedRun): Agent<Services> {
  const agent = String(run.input['agent']);
  const known = [...SCENARIOS_OF_WAITS, ...SCENARIOS_OF_TOOLS].find((each) => each.name === name);
  if (known?.agent !== undefined) return known.agent(model);
  if (agent === 'shop') return shop(model);
  return defineAgent<Services>({ name: agent, instructions: 'Go on.', model, tools: [] });
}

function answerTo(call: PendingCall): Resolution {
  // Of this one an example from its form would be taken back by its tool.
  if (call.name === 'customer.code') return { type: 'answer', value: { code: 'ABC' } };
  return JSON.parse(exampleResolution(call)) as Resolution;
}

/** Answers all that waits until nothing does. */
async function comeToRest(engine: Engine, talk: Talk): Promise<ConversationSnapshot> {
  for (let answers = 0; answers <= MOST_ANSWERS; answers += 1) {
    const seen = await until('it waits or rests', () => engine.snapshot(talk), {
      holds: ({ status, pending }) => pending.length > 0 || ['idle', 'closed'].includes(status),
      timeoutMs: PATIENCE_MS,
    });
    const [call] = seen.pending;
    if (call === undefined) return seen;
    const { verdict } = await talk.resolve(call.toolCallId, answerTo(call));
    // The deadline may have passed since the history was recorded.
    const isLate = Date.now() > Date.parse(call.deadline);
    expect([call.kind, isLate ? 'accepted' : verdict]).toEqual([call.kind, 'accepted']);
  }
  throw new Error(`more than ${MOST_ANSWERS} answers`);
}

test.each([...conversations])(
  'a recorded conversation goes on to its end: %s',
  async (name, files) => {
    const histories = files.map((file): unknown =>
      JSON.parse(readFileSync(new URL(file, HISTORIES), 'utf8')),
    );
    const first = await runOf(histories[0]);
    const { workflowId, runId, taskQueue, isClosed } = await runOf(histories.at(-1));
    const engine = await startEngine({
      address: server.address,
      agents: [agentOf(name, first)],
      services: ledger(),
      taskQueue,
    });
    for (const history of histories) await importRun(engine.temporal, history);
    const talk = engine.begin(String(first.input['conversationId']));
    expect(engine.workflowId(talk)).toBe(workflowId);
    const before = await engine.history.lines(workflowId, runId);
    if (!isClosed) {
      const { status } = await comeToRest(engine, talk);
      // A conversation whose idle time has run out since closes by itself.
      if (status !== 'closed') {
        const turn = await engine.say(talk, 'And now?');
        expect([turn.status, turn]).toMatchObject(['completed', { text: 'It goes on.' }]);
        await talk.close();
      }
    }
    const status = async (): Promise<string> => (await engine.handle(talk).describe()).status.name;
    await until('the run has ended', status, {
      holds: (seen) => seen !== 'RUNNING',
      timeoutMs: PATIENCE_MS,
    });
    const lines = await engine.history.lines(workflowId, runId);
    expect(lines.slice(0, before.length)).toEqual(before);
    expect(lines.length > before.length).toBe(!isClosed);
    for (const each of await engine.history.runs(workflowId))
      expect(await engine.history.failedTasks(workflowId, each)).toEqual([]);
  },
);

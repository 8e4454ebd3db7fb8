/**
 * Imports each conversation of test/replay/histories into a Temporal server and continues it with the present code to
 * its end. A replay alone only shows that what was decided is decided again.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sampleAnswer } from '../../../src/core/view/sample-answer.js';
import { type Agent, defineAgent } from '../../../src/define/define-agent.js';
import { ScriptedModel, says } from '../../../src/model/scripted/scripted.js';
import type { ToolResultEnvelope } from '../../../src/protocol/calls/results.js';
import type { PendingCall } from '../../../src/protocol/calls/suspensions.js';
import { textOf } from '../../../src/protocol/conversation/messages.js';
import type { ConversationStatus } from '../../../src/protocol/conversation/statuses.js';
import type { CanonicalEvent } from '../../../src/protocol/log/events.js';
import type { Model } from '../../../src/protocol/model/model.js';
import { ledger, type Services } from '../../support/engine/agents.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import {
  importingServer,
  importRun,
  type RecordedRun,
  runOf,
} from '../../support/histories/history-import.js';
import { movedToNow } from '../../support/histories/history-times.js';
import { SCENARIOS } from '../../support/histories/scenarios/index.js';
import {
  agentOf,
  ended,
  historiesOf,
  type Scenario,
  type Talk,
} from '../../support/histories/scenarios/scenario.js';
import { promise } from '../../support/promise.js';
import type { DevServer } from '../../support/servers/dev-server.js';
import { until } from '../../support/until.js';

const HISTORIES = new URL('../../replay/histories/', import.meta.url);
/** Some agents have a budget of money. */
const PRICES = { inputPerMTok: 1, outputPerMTok: 2 };
/** More than any history leaves open. */
const MAX_ANSWERS = 20;

function historyOf(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`${name}.json`, HISTORIES), 'utf8'));
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

/** The agent of the scenario; one without tools where the scenario makes its own and leaves no call open. */
function agentFor(scenario: Scenario, { input }: RecordedRun, model: Model): Agent<Services> {
  if (!('converse' in scenario)) return agentOf(scenario, model);
  const name = scenario.lastAgent ?? String(input['agent']);
  return defineAgent<Services>({ name, instructions: 'Continue.', model, tools: [] });
}

/** The input of `resolveToolCall` by which the call is answered. */
function answerTo(call: PendingCall): unknown {
  const answer = sampleAnswer(call, [])?.answer;
  // The tool would refuse the sample.
  return call.name === 'customer.code'
    ? { ...answer, resolution: { type: 'answer', value: { code: 'ABC' } } }
    : answer;
}

/** Answers each call that waits, until none does. Returns the ids of these calls, too. */
async function answerAll(
  engine: Engine,
  talk: Talk,
): Promise<{ readonly status: ConversationStatus; readonly answered: ReadonlySet<string> }> {
  const answered = new Set<string>();
  for (let answers = 0; answers <= MAX_ANSWERS; answers += 1) {
    const { status, pending } = await until('it waits or is idle', () => engine.snapshot(talk), {
      holds: (seen) => seen.pending.length > 0 || ['idle', 'closed'].includes(seen.status),
    });
    const [call] = pending;
    if (call === undefined) return { status, answered };
    const reply = await engine.update(talk, 'resolveToolCall', answerTo(call));
    expect([call.kind, reply]).toMatchObject([call.kind, { verdict: 'accepted' }]);
    answered.add(call.toolCallId);
  }
  throw new Error(`more than ${MAX_ANSWERS} answers`);
}

/** The last result of a call. */
function resultOf(id: string, log: readonly CanonicalEvent[]): ToolResultEnvelope | undefined {
  const results = log.filter((event) => event.type === 'tool_result');
  return results.findLast(({ toolCallId }) => toolCallId === id)?.result.envelope;
}

/** Texts of the user's messages in the last request to the model. */
function messagesFor({ requests }: ScriptedModel): readonly string[] {
  const messages = requests.at(-1)?.messages ?? [];
  return messages.flatMap((each) => (each.role === 'user' ? [textOf(each.parts)] : []));
}

/** Texts of the user's messages that the model must see: of all turns that no summary covers. */
function messagesIn(log: readonly CanonicalEvent[]): readonly string[] {
  const summary = log.findLast((event) => event.type === 'summary');
  const messages = log.filter((event) => event.type === 'user_message');
  const covered = messages.findLastIndex(({ turnId }) => turnId === summary?.throughTurnId);
  return messages.slice(covered + 1).map(({ parts }) => textOf(parts));
}

test.each(SCENARIOS)(
  'a recorded conversation continues to its end: $name',
  promise('G223', 'S45'),
  async (scenario) => {
    const histories = await movedToNow(historiesOf(scenario).map(historyOf));
    const first = await runOf(histories[0]);
    const { workflowId, runId, taskQueue } = await runOf(histories.at(-1));
    const model = new ScriptedModel([], says('Welcome back.'), { prices: PRICES });
    const engine = await startEngine({
      address: server.address,
      agents: [agentFor(scenario, first, model)],
      services: ledger(),
      taskQueue,
    });
    const talk = engine.begin(String(first.input['conversationId']));
    expect(engine.workflowId(talk)).toBe(workflowId);
    for (const history of histories) {
      await importRun(engine.temporal, history);
      // Messages that a run has offloaded are made again from the log.
      await engine.log(talk);
    }
    const before = await engine.history.lines(workflowId, runId);
    const failed = await engine.history.failedTasks(workflowId, runId);

    const { status, answered } = await answerAll(engine, talk);
    expect(answered.size).toBeGreaterThanOrEqual(scenario.name.startsWith('parked-') ? 1 : 0);
    const options = { reopen: status === 'closed', onBusy: 'queue' } as const;
    const turn = await engine.say(talk, 'And now?', options);
    expect([turn.status, turn]).toMatchObject(['completed', { text: 'Welcome back.' }]);
    await talk.close();

    const log = await engine.log(talk);
    expect(log.at(-1)?.type).toBe('conversation_closed');
    for (const id of answered) expect([id, resultOf(id, log)]).toMatchObject([id, { ok: true }]);
    expect(messagesFor(model)).toEqual(expect.arrayContaining([...messagesIn(log)]));
    await ended(engine, talk);
    expect((await engine.history.lines(workflowId, runId)).slice(0, before.length)).toEqual(before);
    expect(await engine.history.failedTasks(workflowId, runId)).toEqual(failed);
    for (const each of (await engine.history.runs(workflowId)).filter((id) => id !== runId))
      expect(await engine.history.failedTasks(workflowId, each)).toEqual([]);
  },
);

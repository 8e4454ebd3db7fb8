/**
 * Questions of MCP servers across processes: the worker that received the question is killed before the answer arrives.
 */
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { kitServer, type McpLedger, mcpLedger } from '../../support/mcp/kit.js';
import { startMcpServer, startOldMcpServer } from '../../support/mcp/servers.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import type { Scenario } from '../support/scenario-model.js';
import type { Talk } from '../support/talk.js';
import { startWorld, type World } from '../support/world.js';

const MAIN = { type: 'answer', value: { branch: 'main' } } as const;
const TIMEOUT_MS = 120_000;

/** Calls the tool that the message names, and then reports its result. */
const push: Scenario = ({ userTexts, results }) =>
  results.length === 0
    ? { calls: [{ name: userTexts.at(-1) ?? '', input: { repository: 'tea' } }] }
    : { text: 'So be it.' };

interface Scene {
  readonly world: World;
  /** Calls of the server with the current protocol, and of the one with the older protocol. */
  readonly kit: McpLedger;
  readonly old: McpLedger;
}

async function scene(): Promise<Scene> {
  const kit = mcpLedger();
  const old = mcpLedger();
  const servers = [
    await startMcpServer(() => kitServer(kit)),
    await startOldMcpServer(() => kitServer(old)),
  ];
  const world = await startWorld({
    agents: fileURLToPath(new URL('../fixtures/mcp.ts', import.meta.url)),
    script: push,
    env: { E2E_MCP_URL: servers[0]?.url ?? '', E2E_OLD_MCP_URL: servers[1]?.url ?? '' },
  });
  onTestFinished(() => world.stop());
  return { world, kit, old };
}

/** Has the tool ask, kills its worker, answers, and starts the next worker. */
async function answeredAfterKill(world: World, tool: string): Promise<Talk> {
  const talk = world.talk(tool.replace('.', '-'));
  await talk.begin('pusher', tool);
  const [question] = await talk.waitingCalls(1);
  expect(question).toMatchObject({ kind: 'elicitation', name: tool });
  expect(question?.reason).toMatch(/^Which branch\? \(asked by the MCP server "(kit|old)"\)$/);
  await world.stack.worker().kill();
  const answer = talk.resolve(question?.toolCallId ?? '', MAIN);
  await world.stack.startWorker();
  expect((await answer).body['verdict']).toMatch(/^(accepted|queued)$/);
  await talk.ended();
  return talk;
}

async function resultOf(talk: Talk): Promise<unknown> {
  const [result] = await talk.eventsOf('tool_result');
  return result?.result.envelope;
}

it('the answer to a question from a killed worker is delivered by the next one, together with the state of the question', {
  ...promise('G147'),
  timeout: patient(TIMEOUT_MS),
}, async () => {
  const { world, kit } = await scene();
  const talk = await answeredAfterKill(world, 'kit.push');
  expect(await resultOf(talk)).toEqual({
    ok: true,
    result: 'pushed tea to {"force":false,"branch":"main"}',
  });
  expect(kit.runs).toEqual(['push tea first', 'push tea state-1-of-tea']);
});

it('a server of the older protocol gets its call repeated by the next worker, together with the answer', {
  ...promise('G149'),
  timeout: patient(TIMEOUT_MS),
}, async () => {
  const { world, old } = await scene();
  const talk = await answeredAfterKill(world, 'old.push');
  expect(await resultOf(talk)).toMatchObject({
    ok: true,
    result: 'pushed tea to {"force":false,"branch":"main"}',
  });
  expect(old.runs.filter((run) => run === 'push tea first')).toHaveLength(2);
});

it('a call that was held open in the killed worker has an unknown outcome, and is not repeated', {
  ...promise('G150'),
  timeout: patient(TIMEOUT_MS),
}, async () => {
  const { world, old } = await scene();
  const talk = await answeredAfterKill(world, 'old.push-once');
  expect(await resultOf(talk)).toMatchObject({
    ok: false,
    error: { code: 'outcome_unknown' },
  });
  expect(old.runs.filter((run) => run === 'push-once tea first')).toHaveLength(1);
});

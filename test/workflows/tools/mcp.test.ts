/** A question of an MCP server as part of a durable conversation. */
import { inputRequired, McpServer } from '@modelcontextprotocol/server';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { expect, inject, test } from 'vitest';
import { z } from 'zod';
import type { Conversation } from '../../../src/client/index.js';
import { defineAgent } from '../../../src/define/define-agent.js';
import { mcpServer } from '../../../src/define/mcp-server.js';
import { calls, says, script, scriptedBy } from '../../../src/model/scripted/scripted.js';
import { startEngine } from '../../support/engine/engine.js';
import { payloadsIn } from '../../support/engine/history.js';
import { replay } from '../../support/engine/replay.js';
import { kitServer, mcpLedger } from '../../support/mcp/kit.js';
import { startMcpServer, startOldMcpServer } from '../../support/mcp/servers.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

const TOKEN = 'tok_never_recorded';

test('an MCP server requests input, its worker stops, and another worker delivers the answer: the tool continues, and no token is in history', {
  ...promise('G147'),
}, async () => {
  const ledger = mcpLedger();
  const http = await startMcpServer(() => kitServer(ledger));
  http.accepts = (authorization) => authorization === `Bearer ${TOKEN}`;
  const agent = defineAgent({
    name: 'support',
    model: script(calls('kit.push', { repository: 'tea' }), says('Pushed.')),
    instructions: 'Help.',
    mcpServers: [
      mcpServer({ name: 'kit', url: http.url, token: () => TOKEN, approval: 'destructive' }),
    ],
  });
  const engine = await startEngine({ agents: [agent] });
  const { talk, result } = await engine.ask('push tea');
  expect(result).toMatchObject({
    status: 'waiting',
    pending: [{ kind: 'approval', name: 'kit.push', prompt: { repository: 'tea' } }],
  });
  expect((await talk.resolve('call_1', { type: 'approve' })).verdict).toBe('accepted');
  const pending = async () => (await engine.snapshot(talk)).pending;
  const [waiting] = await until('the server asks', pending, {
    holds: ([call]) => call?.kind === 'elicitation',
  });
  expect(waiting).toMatchObject({
    name: 'kit.push',
    reason: 'Which branch? (asked by the MCP server "kit")',
    answerSchema: { required: ['branch'] },
  });
  await engine.stopWorker();
  await engine.startWorker();
  const branch = { type: 'answer', value: { branch: 'main' } } as const;
  expect((await talk.resolve('call_1', branch)).verdict).toBe('accepted');
  await engine.idle(talk);
  const log = await engine.log(talk);
  expect(log.find((event) => event.type === 'tool_result')).toMatchObject({
    result: {
      status: 'resolved',
      envelope: { ok: true, result: 'pushed tea to {"force":false,"branch":"main"}' },
      provenance: 'untrusted',
    },
  });
  expect(ledger.runs).toEqual(['push tea first', 'push tea state-1-of-tea']);
  const workflowId = engine.workflowId(talk);
  const payloads = payloadsIn(await engine.history.events(workflowId));
  const recorded = payloads.map(({ data }) => Buffer.from(data ?? []).toString()).join('\n');
  expect(recorded).toContain('state-1-of-tea');
  expect(recorded).not.toContain(TOKEN);
  expect(JSON.stringify(log)).not.toContain(TOKEN);
  const handle = engine.temporal.workflow.getHandle(workflowId);
  const history = JSON.parse(historyToJSON(await handle.fetchHistory())) as object;
  await replay({ codePath: inject('workflowBundlePath') }, history);
});

test('a server of the older protocol asks in the middle of calls that must not be repeated: each continues in the worker that holds it', {
  ...promise('G150'),
}, async () => {
  const ledger = mcpLedger();
  const { url } = await startOldMcpServer(() => kitServer(ledger));
  const agent = defineAgent({
    name: 'support',
    model: scriptedBy(({ messages }) => ({
      type: 'answer',
      ...(messages.at(-1)?.role === 'tool'
        ? { text: 'Pushed.' }
        : { calls: [{ name: 'kit.push-once', input: { repository: 'tea' } }] }),
    })),
    instructions: 'Help.',
    mcpServers: [mcpServer({ name: 'kit', url })],
  });
  const engine = await startEngine({ agents: [agent] });
  const { opened, taskQueue } = engine;
  await startEngine({ agents: [agent], eventLog: opened, taskQueue });
  const asked: Conversation[] = [];
  // One after the other: with two calls at work the asking one could not be identified.
  for (const id of ['held-1', 'held-2', 'held-3', 'held-4']) {
    const talk = engine.begin(id);
    const result = await engine.say(talk, 'push tea');
    expect(result).toMatchObject({ status: 'waiting', pending: [{ kind: 'elicitation' }] });
    asked.push(talk);
  }
  const branch = { type: 'answer', value: { branch: 'main' } } as const;
  for (const talk of asked) {
    expect((await talk.resolve('call_1', branch)).verdict).toBe('accepted');
    await engine.idle(talk);
    const log = await engine.log(talk);
    expect(log.find((event) => event.type === 'tool_result')).toMatchObject({
      result: { envelope: { ok: true, result: 'pushed tea to {"force":false,"branch":"main"}' } },
    });
    const question = log.find((event) => event.type === 'tool_asked');
    expect(question).toMatchObject({
      question: { heldAt: expect.stringContaining(`${taskQueue}-held-`) as string },
    });
  }
  expect(ledger.runs.filter((run) => run === 'push-once tea first')).toHaveLength(4);
  const handle = engine.temporal.workflow.getHandle(engine.workflowId({ id: 'held-1' }));
  const history = JSON.parse(historyToJSON(await handle.fetchHistory())) as object;
  await replay({ codePath: inject('workflowBundlePath') }, history);
});

test('a worker shuts down while the answer to a held call is being processed: the call ends with its result, not with an unknown outcome', {
  ...promise('G151'),
}, async () => {
  const work: string[] = [];
  let finish: () => void = () => undefined;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const { url } = await startOldMcpServer(() => {
    const server = new McpServer({ name: 'old', version: '1' });
    const about = { description: 'Pushes.', inputSchema: z.object({}) };
    server.registerTool('push', about, async (_input, { mcpReq }) => {
      if (mcpReq.inputResponses?.['sure'] === undefined)
        return inputRequired({
          inputRequests: {
            sure: inputRequired.elicit({ message: 'Sure?', requestedSchema: z.object({}) }),
          },
        });
      work.push('answered');
      await finished;
      return { content: [{ type: 'text', text: 'pushed' }] };
    });
    return server;
  });
  const agent = defineAgent({
    name: 'support',
    model: script(calls('old.push', {}), says('Pushed.')),
    instructions: 'Help.',
    mcpServers: [mcpServer({ name: 'old', url })],
  });
  const engine = await startEngine({ agents: [agent], shutdownGraceMs: 10_000 });
  const { opened, taskQueue } = engine;
  const { talk } = await engine.ask('push');
  await talk.resolve('call_1', { type: 'answer', value: {} });
  await until('the server has its answer', () => work, { holds: (seen) => seen.length === 1 });
  const stopped = engine.stopWorker();
  await until('the worker of all has stopped', () => engine.workerState, {
    holds: (state) => state === 'STOPPED',
  });
  await startEngine({ agents: [agent], eventLog: opened, taskQueue });
  finish();
  await stopped;
  await engine.idle(talk);
  expect((await engine.log(talk)).find((event) => event.type === 'tool_result')).toMatchObject({
    result: { envelope: { ok: true, result: 'pushed' } },
  });
});

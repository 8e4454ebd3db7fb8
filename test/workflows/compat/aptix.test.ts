/** AGN-005 from request to response on a real server: a turn that needs the client, and its results. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  type AgentExecuteResponse,
  agentToolOf,
  agentTransport,
  failed,
  type InvokeResult,
  succeeded,
} from '../../../src/compat/aptix/index.js';
import { defineAgent, defineTool } from '../../../src/index.js';
import { callsAll, says, script } from '../../../src/testing/index.js';
import { startEngine } from '../../support/engine/engine.js';
import { promise } from '../../support/promise.js';

const input = z.object({ path: z.string() });
const read = agentToolOf({
  name: 'workspace.search',
  toolUsageMetadata: 'Finds a file.',
  ...{ input, isToolFullyExecutedOnServer: true },
  executeAsync: (call, { input: { path } }) => {
    if (path === 'none') return Promise.resolve(failed({ message: 'no such file' }));
    call.resultJson = JSON.stringify({ found: path });
    return Promise.resolve(succeeded(call));
  },
});
const write = agentToolOf({
  name: 'editor.write',
  toolUsageMetadata: 'Writes into the open editor.',
  ...{ input, isToolFullyExecutedOnServer: false },
  executeAsync: (call, { sessionId, input: { path } }) => {
    call.resultJson = JSON.stringify({ file: `/repo/${path}`, sessionId });
    return Promise.resolve(succeeded(call));
  },
});

function responseOf(outcome: InvokeResult<AgentExecuteResponse>): AgentExecuteResponse {
  if (!outcome.successful) throw new Error(JSON.stringify(outcome.errors));
  return outcome.result;
}

test('calls of the server loop, those of the client are handed over, and their results continue the turn', {
  ...promise('X6', 'X28', 'X30', 'X31', 'X32', 'X33', 'X34', 'X35', 'X36', 'X37', 'X38'),
}, async () => {
  const model = script(
    callsAll([{ name: 'workspace.search', input: { path: 'a.ts' } }]),
    callsAll([
      { name: 'workspace.search', input: { path: 'b.ts' } },
      { name: 'editor.write', input: { path: 'a.ts' } },
      { name: 'workspace.search', input: { path: 'none' } },
      { name: 'editor.write', input: { path: 'b.ts' } },
    ]),
    says('Written.'),
    says('You are welcome.'),
  );
  const agent = defineAgent({ name: 'ide', instructions: 'Help.', model, tools: [read, write] });
  const engine = await startEngine({ agents: [agent] });
  const transport = agentTransport(engine.client, { agent: 'ide', timeoutMs: 20_000 });
  const sessionId = engine.begin().id;
  const asked = { sessionId, instruction: 'Write both', requestId: 'request-1' };
  const continuation = responseOf(await transport.execute(asked));
  const { turnId } = continuation;
  expect(continuation).toMatchObject({
    kind: 'client_tool_continuation',
    sessionId,
    toolCalls: [
      {
        ...{ toolName: 'workspace.search', isServerTool: true, wasExecuted: true },
        ...{ requiresClientExecution: false, status: 'resolved', resultJson: '{"found":"b.ts"}' },
      },
      {
        ...{ toolName: 'editor.write', isServerTool: true, wasExecuted: true },
        ...{ requiresClientExecution: true, status: 'pending' },
        resultJson: JSON.stringify({ file: '/repo/a.ts', sessionId }),
      },
      {
        ...{ toolName: 'workspace.search', isServerTool: true, wasExecuted: false },
        ...{ requiresClientExecution: false, status: 'errored', errorMessage: 'no such file' },
      },
      { toolName: 'editor.write', requiresClientExecution: true },
    ],
  });
  expect(continuation).not.toHaveProperty('text');
  // The same request again is the same continuation.
  expect(responseOf(await transport.execute(asked))).toEqual(continuation);

  const calls = continuation.kind === 'final' ? [] : continuation.toolCalls;
  const [one, two] = calls.flatMap((call) => (call.requiresClientExecution ? [call] : []));
  const results = [
    { toolCallId: one?.toolCallId, resultJson: '{"lines":3}', executionMs: 12 },
    { toolCallId: two?.toolCallId, errorMessage: 'the editor is closed' },
  ];
  const handIn = { sessionId, turnId, requestId: 'results-1' };
  const partly = { ...handIn, toolResultsJson: JSON.stringify(results.slice(0, 1)) };
  expect(await transport.execute({ ...partly, requestId: 'partly' })).toMatchObject({
    successful: false,
    errors: [{ errorCode: 'invalid', path: expect.stringContaining('/results') as string }],
  });
  const strange = JSON.stringify(results.map((each) => ({ ...each, toolCallId: 'call_99' })));
  expect(
    await transport.execute({ ...handIn, requestId: 'strange', toolResultsJson: strange }),
  ).toMatchObject({
    errors: [0, 1].map((n) => ({ errorCode: 'invalid', path: `/results/${n}/toolCallId` })),
  });
  const all = { ...handIn, toolResultsJson: JSON.stringify(results) };
  const final = { kind: 'final', sessionId, turnId, text: 'Written.' };
  expect(responseOf(await transport.execute(all))).toMatchObject(final);
  // After the next turn has begun, a repeat still has the response of its own.
  const next = await transport.execute({ sessionId, instruction: 'Thanks' });
  expect(responseOf(next)).toMatchObject({ kind: 'final', text: 'You are welcome.' });
  expect(responseOf(await transport.execute(all))).toMatchObject(final);
  expect(await transport.execute({ ...all, requestId: 'results-2' })).toMatchObject({
    successful: false,
    errors: [{ errorCode: 'stale' }],
  });
  const log = await engine.log(engine.client.conversation(sessionId));
  const ends = log.flatMap((event) =>
    event.type === 'tool_result' ? [[event.toolCallId, event.result.envelope] as const] : [],
  );
  const byCall = new Map(ends);
  expect([byCall.get(one?.toolCallId ?? ''), byCall.get(two?.toolCallId ?? '')]).toMatchObject([
    { ok: true, result: { lines: 3 } },
    { ok: false, error: { message: 'the editor is closed' } },
  ]);
});

test('a call that a person must approve is named, and a repeated request goes on when it is decided', {
  ...promise('X32'),
}, async () => {
  const gated = defineTool({
    ...{ name: 'file.remove', description: 'Removes.', input, approval: 'required' },
    run: ({ path }) => ({ removed: path }),
  });
  const model = script(
    callsAll([{ name: 'file.remove', input: { path: 'a.ts' } }]),
    says('Removed.'),
  );
  const agent = defineAgent({ name: 'ide', instructions: 'Help.', model, tools: [gated] });
  const engine = await startEngine({ agents: [agent] });
  const transport = agentTransport(engine.client, { agent: 'ide' });
  const talk = engine.begin();
  const request = { sessionId: talk.id, instruction: 'Remove it', requestId: 'request-1' };
  expect(await transport.execute(request)).toMatchObject({
    successful: false,
    errors: [
      { errorCode: 'awaiting_input', message: expect.stringContaining('file.remove') as string },
    ],
  });
  const [pending] = await talk.pending();
  await talk.resolve(pending?.toolCallId ?? '', { type: 'approve' });
  expect(responseOf(await transport.execute(request))).toMatchObject({ text: 'Removed.' });
});

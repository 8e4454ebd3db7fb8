/**
 * The client calls of a step as a batch front end handles them: one set of calls goes out, exactly one set of results
 * comes back.
 */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../src/define/define-agent.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { callsAll, says, script } from '../../../src/model/scripted/scripted.js';
import { startEngine } from '../../support/engine/engine.js';
import { promise } from '../../support/promise.js';

const openFile = defineTool({
  name: 'file.open',
  description: 'Opens a file in the editor.',
  executor: 'client',
  input: z.object({ path: z.string() }),
  preflight: ({ path }) => ({ uri: `workspace:///${path}` }),
});
const selection = defineTool({
  name: 'selection.read',
  description: 'Reads the selection.',
  executor: 'client',
  input: z.object({ lines: z.int().default(10) }),
  output: z.strictObject({ text: z.string() }),
});
const search = defineTool({
  name: 'search',
  description: 'Searches.',
  input: z.object({}),
  run: () => ['found'],
});

test('the client calls of a mixed step go out together, and their results come back together in one update', {
  ...promise('G125', 'S38', 'X38'),
}, async () => {
  const model = script(
    callsAll([
      { name: 'file.open', input: { path: 'a.ts' } },
      { name: 'search', input: {} },
      { name: 'selection.read', input: {} },
    ]),
    says('Read.'),
  );
  const tools = [openFile, selection, search];
  const agent = defineAgent({ name: 'ide', instructions: 'Help.', model, tools });
  const engine = await startEngine({ agents: [agent] });
  const { talk, result } = await engine.ask('Look');
  expect(result.status).toBe('waiting');
  const stepId = (await talk.snapshot()).turn?.stepId ?? '';
  const step = await talk.step(stepId);
  expect(step).toMatchObject({
    ready: true,
    toolCalls: [
      { name: 'file.open', preparedPayload: { uri: 'workspace:///a.ts' }, waitsFor: 'client' },
      { name: 'search', wasExecuted: true, requiresClientExecution: false },
      { name: 'selection.read', argumentsJson: '{"lines":10}', waitsFor: 'client' },
    ],
  });

  const [open, , read] = step.toolCalls.map(({ toolCallId }) => toolCallId);
  const opened = { toolCallId: open ?? '', resultJson: '"opened"', executionMs: 20 };
  const selected = { toolCallId: read ?? '', resultJson: '{"text":"x"}', executionMs: 3 };
  const before = await engine.history.count(engine.workflowId(talk));
  const refusals = [
    await talk.resolveBatch(stepId, [selected, opened]),
    await talk.resolveBatch(stepId, [opened]),
    await talk.resolveBatch(stepId, [opened, { ...selected, resultJson: '{"text":1}' }]),
  ];
  expect(refusals.map(({ verdict, httpStatus }) => [verdict, httpStatus])).toEqual(
    refusals.map(() => ['invalid', 422]),
  );
  expect(await engine.history.count(engine.workflowId(talk))).toBe(before);

  const requestId = 'results-1';
  const first = await talk.resolveBatch(stepId, [opened, selected], { requestId });
  expect(first).toMatchObject({ verdict: 'accepted', stepId, httpStatus: 200, requestId });
  await engine.idle(talk);
  const again = await talk.resolveBatch(stepId, [opened, selected], { requestId });
  expect(again).toMatchObject({ verdict: 'duplicate', first: { results: [{}, {}] } });
  expect(await talk.resolveBatch(stepId, [opened, selected])).toMatchObject({ verdict: 'stale' });

  const lines = (await engine.history.lines(engine.workflowId(talk))).slice(before);
  expect(lines.filter((line) => line.startsWith('WorkflowExecutionUpdate'))).toEqual([
    'WorkflowExecutionUpdateAccepted resolveBatch',
    'WorkflowExecutionUpdateCompleted',
  ]);
  // Two tasks: one accepts the set, one handles the model's answer.
  expect(lines.filter((line) => line === 'WorkflowTaskCompleted')).toHaveLength(2);
  const log = await engine.log(talk);
  expect(log.filter(({ type }) => type === 'resolution')).toHaveLength(2);
  expect(JSON.stringify(model.requests)).not.toContain('workspace://');
  expect(await talk.step(stepId)).toMatchObject({
    ready: false,
    toolCalls: [{ requiresClientExecution: false }, {}, { requiresClientExecution: false }],
  });
});

test('a set of results for a closed conversation gets its verdict from the log', async () => {
  const model = script(callsAll([{ name: 'selection.read', input: {} }]), says('Read.'));
  const agent = defineAgent({ name: 'ide', instructions: 'Help.', model, tools: [selection] });
  const engine = await startEngine({ agents: [agent] });
  const { talk } = await engine.ask('Look');
  const stepId = (await talk.snapshot()).turn?.stepId ?? '';
  const results = [{ toolCallId: 'call_1', resultJson: '{"text":"x"}' }];
  const requestId = 'results-1';
  const first = await talk.resolveBatch(stepId, results, { requestId });
  await engine.idle(talk);
  await talk.close();
  await engine.log(talk);
  expect(await talk.resolveBatch(stepId, results, { requestId })).toMatchObject({
    verdict: 'duplicate',
    first: { seq: first.verdict === 'accepted' ? first.seq : 0 },
  });
  expect(await talk.resolveBatch(stepId, results)).toMatchObject({ verdict: 'stale' });
  const nowhere = engine.begin();
  expect(await nowhere.resolveBatch(stepId, results)).toMatchObject({
    verdict: 'unknown',
    what: 'conversation',
    httpStatus: 404,
  });
});

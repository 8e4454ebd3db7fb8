/** Answers as other systems give them, over HTTP and by the client, to conversations on a real server: verdict, log and model agree. */
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { ConversationClient } from '../../src/client/index.js';
import { defineAgent, manifestOf } from '../../src/define/agent.js';
import { defineTool } from '../../src/define/tool.js';
import { createApp } from '../../src/http/app.js';
import { serve } from '../../src/http/listen.js';
import { callsAll, type ScriptedModel, says, script } from '../../src/model/scripted.js';
import type { CanonicalEvent } from '../../src/protocol/events.js';
import type { Json } from '../../src/protocol/json.js';
import { type Engine, startEngine } from '../support/engine.js';
import type { Talk } from '../support/history-scenarios.js';

const base = { description: 'Does its work.', input: z.object({ n: z.int() }) };
const paid: number[] = [];
const pay = defineTool({
  ...base,
  name: 'pay',
  approval: 'required',
  effects: 'once',
  run: ({ n }) => {
    paid.push(n);
    return { paid: n };
  },
});
const find = defineTool({ ...base, name: 'find', executor: 'external' });
const show = defineTool({ ...base, name: 'show', executor: 'client' });

const asks = (...names: readonly string[]): ReturnType<typeof callsAll> =>
  callsAll(names.map((name, n) => ({ name, input: { n } })));

interface Desk {
  readonly engine: Engine;
  readonly model: ScriptedModel;
  /** POSTs JSON below a conversation; the status and the body. */
  readonly post: (
    talk: Talk,
    path: string,
    body: object,
    key?: string,
  ) => Promise<readonly [number, Json]>;
}

async function open(model: ScriptedModel): Promise<Desk> {
  const agent = defineAgent({
    name: 'desk',
    instructions: 'Help.',
    model,
    tools: [pay, find, show],
  });
  const engine = await startEngine({ agents: [agent] });
  const { temporal, taskQueue, reader } = engine;
  const client = new ConversationClient({
    temporal,
    taskQueue,
    reader,
    agents: [manifestOf(agent)],
    channel: 'api',
  });
  const none = (): void => undefined;
  const app = createApp({
    client,
    reader,
    conversations: {
      list: () => Promise.resolve({ conversations: [] }),
      checkWritable: () => Promise.resolve(),
    },
    log: { info: none, warn: none, error: none },
  });
  const server = await serve(app, { port: 0, graceMs: 500 });
  onTestFinished(() => server.close());
  return {
    engine,
    model,
    post: async (talk, path, body, key = 'key-1') => {
      const response = await fetch(`${server.url}/v1/conversations/${talk.id}/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify(body),
      });
      return [response.status, (await response.json()) as Json];
    },
  };
}

/** What the model read last of each call. */
function read({ model }: Desk): readonly unknown[] {
  const last = model.requests.at(-1)?.messages.at(-1);
  if (last?.role !== 'tool') throw new Error(`the model read ${JSON.stringify(last)}`);
  return last.parts.map((part) => ('envelope' in part ? part.envelope : part));
}

async function logged(
  { engine }: Desk,
  talk: Talk,
  type: CanonicalEvent['type'],
): Promise<readonly CanonicalEvent[]> {
  return (await engine.log(talk)).filter((event) => event.type === type);
}

const ANN = { id: 'ann' };

test('a call is answered by its id within its conversation: the same id in another one waits on', async () => {
  const desk = await open(script(asks('find'), asks('find'), says('done')));
  const { talk } = await desk.engine.ask();
  const { talk: other } = await desk.engine.ask();
  const resolution = { type: 'result', value: { owner: 'bob' } };
  expect(await desk.post(talk, 'tool-calls/call_7/resolution', { resolution })).toMatchObject([
    404,
    { verdict: 'unknown', what: 'tool_call' },
  ]);
  expect(await desk.post(talk, 'tool-calls/call_1/resolution', { resolution })).toMatchObject([
    200,
    { verdict: 'accepted', toolCallId: 'call_1' },
  ]);
  await desk.engine.idle(talk);
  expect(read(desk)).toEqual([{ ok: true, result: { owner: 'bob' } }]);
  expect((await desk.engine.snapshot(other)).pending).toMatchObject([{ toolCallId: 'call_1' }]);
  expect(await logged(desk, other, 'resolution')).toEqual([]);
});

test('an answer is acknowledged with its verdict, the seq of what it recorded and its request id; a repeat with the same', async () => {
  const desk = await open(script(asks('find'), says('done')));
  const { talk } = await desk.engine.ask();
  const body = { resolution: { type: 'result', value: 1 }, actor: ANN };
  const [status, first] = await desk.post(talk, 'tool-calls/call_1/resolution', body);
  const [event] = await logged(desk, talk, 'resolution');
  expect([status, first]).toEqual([
    200,
    { verdict: 'accepted', toolCallId: 'call_1', seq: event?.seq, requestId: 'key-1' },
  ]);
  expect(event).toMatchObject({
    requestId: 'key-1',
    actor: { id: 'ann', verified: false, channel: 'api' },
  });
  expect(await desk.post(talk, 'tool-calls/call_1/resolution', body)).toMatchObject([
    200,
    { verdict: 'duplicate', first: { verdict: 'accepted', seq: event?.seq } },
  ]);
  expect(await logged(desk, talk, 'resolution')).toHaveLength(1);
});

test('an approval over HTTP lets the call run once; a rejection keeps it from running, and the model reads the reason', async () => {
  const desk = await open(script(asks('pay', 'pay'), says('done')));
  paid.length = 0;
  const { talk } = await desk.engine.ask();
  const approve = { resolution: { type: 'approve' }, actor: ANN };
  const deny = { resolution: { type: 'deny', reason: 'Not today' }, actor: ANN };
  expect(await desk.post(talk, 'tool-calls/call_1/resolution', approve)).toMatchObject([
    200,
    { verdict: 'accepted' },
  ]);
  expect(await desk.post(talk, 'tool-calls/call_2/resolution', deny, 'key-2')).toMatchObject([
    200,
    { verdict: 'accepted' },
  ]);
  await desk.engine.idle(talk);
  expect(paid).toEqual([0]);
  expect(read(desk)).toMatchObject([
    { ok: true, result: { paid: 0 } },
    { ok: false, error: { code: 'denied', message: 'Not today' } },
  ]);
});

test('another backend submits its result over HTTP by the id of the call: the model reads it, and a second one is stale', async () => {
  const desk = await open(script(asks('find', 'find'), says('done')));
  const { talk } = await desk.engine.ask();
  const submit = (id: string, resolution: object, key: string) =>
    desk.post(talk, `tool-calls/${id}/resolution`, { resolution, actor: ANN }, key);
  expect(await submit('call_1', { type: 'result', value: { n: 41 } }, 'r-1')).toMatchObject([
    200,
    { verdict: 'accepted' },
  ]);
  expect(await submit('call_1', { type: 'result', value: { n: 42 } }, 'r-2')).toMatchObject([
    409,
    { verdict: 'stale' },
  ]);
  const failed = { type: 'error', message: 'no such project' };
  expect(await submit('call_2', failed, 'r-3')).toMatchObject([200, { verdict: 'accepted' }]);
  await desk.engine.idle(talk);
  expect(read(desk)).toMatchObject([
    { ok: true, result: { n: 41 } },
    { ok: false, error: { message: expect.stringContaining('no such project') as string } },
  ]);
});

test('a client executes the calls of a step and sends all their results together, in order: one update, and the model goes on', async () => {
  const desk = await open(script(asks('show', 'show'), says('done')));
  const { talk } = await desk.engine.ask();
  const { turn } = await desk.engine.snapshot(talk);
  const result = (toolCallId: string) => ({ toolCallId, resultJson: JSON.stringify(toolCallId) });
  const before = await desk.engine.history.lines(desk.engine.workflowId(talk));
  const path = `steps/${turn?.stepId ?? ''}/tool-results`;
  const send = (...ids: readonly string[]) =>
    desk.post(talk, path, { results: ids.map(result), actor: ANN }, ids.join());
  for (const wrong of [['call_1'], ['call_2', 'call_1']])
    expect(await send(...wrong)).toMatchObject([422, { verdict: 'invalid' }]);
  expect(await send('call_1', 'call_2')).toMatchObject([
    200,
    { verdict: 'accepted', results: [{ toolCallId: 'call_1' }, { toolCallId: 'call_2' }] },
  ]);
  await desk.engine.idle(talk);
  expect(read(desk)).toEqual([
    { ok: true, result: 'call_1' },
    { ok: true, result: 'call_2' },
  ]);
  const after = await desk.engine.history.lines(desk.engine.workflowId(talk));
  const updates = after.slice(before.length).filter((line) => line.includes('UpdateAccepted'));
  expect(updates).toEqual(['WorkflowExecutionUpdateAccepted resolveBatch']);
});

/**
 * Answers of other systems, over HTTP, to conversations on a real server: the reply, the log and the input of the model
 * agree.
 */
import { defaultPayloadConverter } from '@temporalio/common';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { ConversationClient } from '../../../src/client/index.js';
import {
  forHttpRequest,
  HTTP_REQUEST_ID_HEADER,
} from '../../../src/client/payloads/http-request-id.js';
import { defineAgent, manifestOf } from '../../../src/define/define-agent.js';
import { defineTool } from '../../../src/define/define-tool.js';
import { createApp } from '../../../src/http/app.js';
import { serve } from '../../../src/http/listen.js';
import {
  callsAll,
  type ScriptedModel,
  says,
  script,
} from '../../../src/model/scripted/scripted.js';
import type { AgentManifest } from '../../../src/protocol/conversation/agents.js';
import type { CanonicalEvent } from '../../../src/protocol/log/events.js';
import type { Json } from '../../../src/protocol/values/json.js';
import { type Engine, startEngine } from '../../support/engine/engine.js';
import { lineOf } from '../../support/engine/history.js';
import { identifyAll } from '../../support/networks/test-identity.js';
import { patientOptions } from '../../support/patience.js';
import { promise } from '../../support/promise.js';

const base = { description: 'Does its work.', input: z.object({ n: z.int() }) };
const find = defineTool({ ...base, name: 'find', executor: 'external' });
const show = defineTool({ ...base, name: 'show', executor: 'client' });

type JsonObject = { readonly [field: string]: Json };

interface Talk {
  readonly id: string;
}

interface Desk {
  readonly engine: Engine;
  readonly agents: readonly AgentManifest[];
  readonly model: ScriptedModel;
  /** Inputs with which the tool `pay` ran. */
  readonly paid: readonly number[];
  /** POSTs JSON below a conversation, under an idempotency key; returns the status and the body. */
  readonly post: (
    talk: Talk,
    path: string,
    request: { readonly body: object; readonly key: string },
  ) => Promise<readonly [status: number, body: Json]>;
}

async function open(model: ScriptedModel): Promise<Desk> {
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
  const tools = [pay, find, show];
  const agent = defineAgent({ name: 'desk', instructions: 'Help.', model, tools });
  const engine = await startEngine({ agents: [agent] });
  const { temporal, taskQueue, reader, opened } = engine;
  const agents = [manifestOf(agent)];
  const client = new ConversationClient(
    patientOptions({ temporal, taskQueue, reader, agents, channel: 'api' }, () => true),
  );
  const app = createApp({ client, reader, conversations: opened.log, identify: identifyAll });
  const server = await serve(app, { port: 0, graceMs: 500 });
  onTestFinished(() => server.close());
  return {
    engine,
    agents,
    model,
    paid,
    post: async (talk, path, { body, key }) => {
      const response = await fetch(`${server.url}/v1/conversations/${talk.id}/${path}`, {
        method: 'POST',
        headers: {
          ...{ 'content-type': 'application/json', 'idempotency-key': key },
          ...{ 'x-request-id': key },
        },
        body: JSON.stringify(body),
      });
      return [response.status, (await response.json()) as Json];
    },
  };
}

const asks = (...names: readonly string[]): ReturnType<typeof callsAll> =>
  callsAll(names.map((name, n) => ({ name, input: { n } })));

/** Answers one call as Ann. */
async function answer(
  desk: Desk,
  talk: Talk,
  {
    id = 'call_1',
    key = 'key-1',
    ...resolution
  }: { readonly type: string; readonly id?: string; readonly key?: string } & JsonObject,
): Promise<readonly [status: number, body: Json]> {
  const body = { resolution, actor: { id: 'ann' } };
  return await desk.post(talk, `tool-calls/${id}/resolution`, { body, key });
}

/** The results in the latest request to the model. */
function results({ model }: Desk): readonly unknown[] {
  const last = model.requests.at(-1)?.messages.at(-1);
  if (last?.role !== 'tool') throw new Error(`the model read ${JSON.stringify(last)}`);
  return last.parts.map((part) => ('envelope' in part ? part.envelope : part));
}

async function resolutions({ engine }: Desk, talk: Talk): Promise<readonly CanonicalEvent[]> {
  const log = await engine.log(engine.begin(talk.id));
  return log.filter(({ type }) => type === 'resolution');
}

const ACCEPTED = [200, { verdict: 'accepted' }];

test('a call is answered by its id within its conversation; a call with the same id in another one still waits', {
  ...promise('A34'),
}, async () => {
  const desk = await open(script(asks('find'), asks('find'), says('done')));
  const { talk } = await desk.engine.ask();
  const { talk: other } = await desk.engine.ask();
  const result = { type: 'result', value: { owner: 'bob' } };
  expect(await answer(desk, talk, { ...result, id: 'call_7' })).toMatchObject([
    404,
    { verdict: 'unknown', what: 'tool_call' },
  ]);
  expect(await answer(desk, talk, result)).toMatchObject([
    200,
    { verdict: 'accepted', toolCallId: 'call_1' },
  ]);
  await desk.engine.idle(talk);
  expect(results(desk)).toEqual([{ ok: true, result: { owner: 'bob' } }]);
  expect((await desk.engine.snapshot(other)).pending).toMatchObject([{ toolCallId: 'call_1' }]);
  expect(await resolutions(desk, other)).toEqual([]);
});

test('an answer is acknowledged with its verdict, its seq in the log and its request id; a repeat gets the first verdict', {
  ...promise('A35'),
}, async () => {
  const desk = await open(script(asks('find'), says('done')));
  const { talk } = await desk.engine.ask();
  const result = { type: 'result', value: 1 };
  const first = await answer(desk, talk, result);
  const [event, ...others] = await resolutions(desk, talk);
  expect(first).toEqual([
    200,
    { verdict: 'accepted', toolCallId: 'call_1', seq: event?.seq, requestId: 'key-1' },
  ]);
  expect(event).toMatchObject({
    requestId: 'key-1',
    actor: { id: 'ann', verified: false, channel: 'api' },
  });
  expect(others).toEqual([]);
  expect(await answer(desk, talk, result)).toMatchObject([
    200,
    { verdict: 'duplicate', first: { verdict: 'accepted', seq: event?.seq } },
  ]);
  expect(await resolutions(desk, talk)).toEqual([event]);
});

test('an approval over HTTP lets the tool run once; a denial keeps it from running, and the model reads the reason', {
  ...promise('C30'),
}, async () => {
  const desk = await open(script(asks('pay', 'pay'), says('done')));
  const { talk } = await desk.engine.ask();
  const denial = { type: 'deny', reason: 'Not today', id: 'call_2', key: 'key-2' };
  expect(await answer(desk, talk, { type: 'approve' })).toMatchObject(ACCEPTED);
  expect(await answer(desk, talk, denial)).toMatchObject(ACCEPTED);
  await desk.engine.idle(talk);
  expect(desk.paid).toEqual([0]);
  expect(results(desk)).toMatchObject([
    { ok: true, result: { paid: 0 } },
    { ok: false, error: { code: 'denied', message: 'Not today' } },
  ]);
});

test('another server submits its result over HTTP by the id of the call: the model reads it, and a second one is stale', {
  ...promise('H16', 'H42'),
}, async () => {
  const desk = await open(script(asks('find', 'find'), says('done')));
  const { talk } = await desk.engine.ask();
  const submit = (key: string, resolution: { type: string } & JsonObject) =>
    answer(desk, talk, { ...resolution, key });
  expect(await submit('r-1', { type: 'result', value: { n: 41 } })).toMatchObject(ACCEPTED);
  expect(await submit('r-2', { type: 'result', value: { n: 42 } })).toMatchObject([
    409,
    { verdict: 'stale' },
  ]);
  const failure = { type: 'error', message: 'no such project', id: 'call_2' };
  expect(await submit('r-3', failure)).toMatchObject(ACCEPTED);
  await desk.engine.idle(talk);
  expect(results(desk)).toMatchObject([
    { ok: true, result: { n: 41 } },
    { ok: false, error: { message: expect.stringContaining('no such project') as string } },
  ]);
});

test('a client executes the calls of a step and sends all results in order, as one update, and the model goes on', {
  ...promise('X38'),
}, async () => {
  const desk = await open(script(asks('show', 'show'), says('done')));
  const { engine } = desk;
  const { talk } = await engine.ask();
  const { turn } = await engine.snapshot(talk);
  const path = `steps/${turn?.stepId ?? ''}/tool-results`;
  const before = await engine.history.count(engine.workflowId(talk));
  const send = (...ids: readonly string[]) => {
    const sent = ids.map((toolCallId) => ({ toolCallId, resultJson: JSON.stringify(toolCallId) }));
    return desk.post(talk, path, { body: { results: sent }, key: ids.join() });
  };
  for (const wrong of [['call_1'], ['call_2', 'call_1']])
    expect(await send(...wrong)).toMatchObject([422, { verdict: 'invalid' }]);
  expect(await send('call_1', 'call_2')).toMatchObject([
    200,
    { verdict: 'accepted', results: [{ toolCallId: 'call_1' }, { toolCallId: 'call_2' }] },
  ]);
  await engine.idle(talk);
  expect(results(desk)).toEqual([
    { ok: true, result: 'call_1' },
    { ok: true, result: 'call_2' },
  ]);
  const after = (await engine.history.lines(engine.workflowId(talk))).slice(before);
  expect(after.filter((line) => line.includes('UpdateAccepted'))).toEqual([
    'WorkflowExecutionUpdateAccepted resolveBatch',
  ]);
});

/** The starts, updates and signals in a history, each with the HTTP request that its header names. */
async function namedRequests({ engine }: Desk, talk: Talk): Promise<readonly string[]> {
  const events = await engine.history.events(engine.workflowId(engine.begin(talk.id)));
  return events.flatMap((event) => {
    const update = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input;
    const header =
      update?.header ??
      event.workflowExecutionSignaledEventAttributes?.header ??
      event.workflowExecutionStartedEventAttributes?.header;
    const payload = header?.fields?.[HTTP_REQUEST_ID_HEADER];
    const id = payload ? defaultPayloadConverter.fromPayload<string>(payload) : 'none';
    const line = lineOf(event);
    return /UpdateAccepted|Signaled|ExecutionStarted/.test(line) ? [`${line}: ${id}`] : [];
  });
}

test('a history names the HTTP request behind each update and signal, and none for a call in process', async () => {
  const asked = [asks('find'), asks('find'), asks('find')];
  const desk = await open(script(...asked, says('done'), says('done')));
  const { engine } = desk;
  const { talk: first } = await engine.ask();
  const { talk: second } = await engine.ask();
  const { talk: third } = await engine.ask();
  const result = { type: 'result', value: 1 };
  await Promise.all([
    answer(desk, first, { ...result, key: 'http-1' }),
    answer(desk, second, { ...result, key: 'http-2' }),
  ]);
  for (const talk of [first, second]) await engine.idle(talk);
  await engine.stopWorker();
  // Without the tests' patience, because no worker will come.
  const { temporal, taskQueue, reader } = engine;
  const impatient = new ConversationClient({ temporal, taskQueue, reader, agents: desk.agents });
  const late = await forHttpRequest('http-3', () => impatient.conversation(first.id).send('more'));
  expect(late).toMatchObject({ status: 'queued' });
  const resolved = await forHttpRequest('http-4', () =>
    impatient.conversation(third.id).resolve('call_1', { type: 'result', value: 1 }),
  );
  expect(resolved).toMatchObject({ verdict: 'queued' });
  expect(await namedRequests(desk, first)).toEqual([
    'WorkflowExecutionStarted: none',
    'WorkflowExecutionUpdateAccepted sendMessage: none',
    'WorkflowExecutionUpdateAccepted resolveToolCall: http-1',
    'WorkflowExecutionSignaled sendMessage: http-3',
  ]);
  expect(await namedRequests(desk, second)).toEqual([
    'WorkflowExecutionStarted: none',
    'WorkflowExecutionUpdateAccepted sendMessage: none',
    'WorkflowExecutionUpdateAccepted resolveToolCall: http-2',
  ]);
  expect(await namedRequests(desk, third)).toEqual([
    'WorkflowExecutionStarted: none',
    'WorkflowExecutionUpdateAccepted sendMessage: none',
    'WorkflowExecutionSignaled resolveToolCall: http-4',
  ]);
});

test('a history names the HTTP request behind the first message of a conversation, and behind a fork', async () => {
  const desk = await open(script(says('done')));
  const { temporal, taskQueue, reader } = desk.engine;
  const client = new ConversationClient({ temporal, taskQueue, reader, agents: desk.agents });
  const origin = client.conversation('c-origin', { agent: 'desk' });
  await forHttpRequest('http-1', () => origin.send('Hello'));
  const { seq: atSeq } = await desk.engine.idle(desk.engine.begin(origin.id));
  const fork = await forHttpRequest('http-2', () => origin.fork({ generation: 1, atSeq }));
  await desk.engine.stopWorker();
  const queued = client.conversation('c-queued', { agent: 'desk' });
  await forHttpRequest('http-3', () => queued.send('Hello'));
  expect(await namedRequests(desk, origin)).toEqual([
    'WorkflowExecutionStarted: none',
    'WorkflowExecutionUpdateAccepted sendMessage: http-1',
  ]);
  expect(await namedRequests(desk, { id: fork.conversationId })).toEqual([
    'WorkflowExecutionStarted: http-2',
  ]);
  expect(await namedRequests(desk, queued)).toEqual([
    'WorkflowExecutionStarted: none',
    'WorkflowExecutionSignaled sendMessage: http-3',
  ]);
});

/** Documents of agents that change while workers run: the turns and the calls of their conversations. */
import { CancelledFailure } from '@temporalio/common';
import { expect, it, onTestFinished } from 'vitest';
import { createActivities } from '../../../src/activities/index.js';
import {
  type AgentDocumentStore,
  type HsafaStoredAgentOptions,
  hsafaAgentDocuments,
  hsafaToolbox,
  memoryAgentDocuments,
  memoryToolDocuments,
} from '../../../src/compat/hsafa/index.js';
import { defineAgent } from '../../../src/define/define-agent.js';
import type { PlannedCall } from '../../../src/protocol/calls/plan.js';
import type { ModelRequest } from '../../../src/protocol/model/model.js';
import type { SummarizeInput } from '../../../src/protocol/workflow/activities.js';
import { SPACES } from '../../../src/spaces/index.js';
import { McpServers } from '../../../src/tools/mcp/servers.js';
import { scopesOf } from '../../support/builders/scopes.js';
import { kitServer, mcpLedger } from '../../support/mcp/kit.js';
import { startMcpServer } from '../../support/mcp/servers.js';
import { promise } from '../../support/promise.js';
import { BUILT_IN_NAMES } from '../../support/spaces/built-in-names.js';
import { runInput } from '../mcp/setup.js';
import { answer, environment, key, modelInput, modelOf } from '../tools/fixtures.js';

const OF = { tenant: 'default' };
const echo = (more: object = {}) => ({
  ...{ name: 'echo', description: 'Echoes.', executionType: 'internal' },
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  ...more,
});
const document = (instructions: string, ...tools: readonly object[]) => ({
  ...{ name: 'assistant', instructions, model: 'fast', tools },
});

/** A worker that has one agent of its own from its start. */
function worker(
  store: AgentDocumentStore,
  more: Partial<HsafaStoredAgentOptions> = { spaces: false },
) {
  const requests: ModelRequest[] = [];
  const entered = {
    get: () => Promise.resolve({ name: 'Desk' }),
    messages: () => Promise.resolve({ messages: [], lastPosition: 0 }),
  };
  const wanted: { name: string; input: object }[] = [];
  const logged: string[] = [];
  const log = (message: string): void => void logged.push(message);
  const logger = { debug: log, info: log, warn: log, error: log };
  const model = modelOf((request) => {
    requests.push(request);
    const calls = wanted.map(({ name, input }, index) => ({
      ...{ id: `call_${index + 1}`, name, argumentsJson: JSON.stringify(input) },
    }));
    return Promise.resolve(answer({ calls }));
  });
  const agents = hsafaAgentDocuments(store, {
    model: () => model,
    ...more,
    servers: { allowPrivate: true },
  });
  const mcp = new McpServers({ scopes: scopesOf(undefined), logger });
  onTestFinished(() => mcp.close());
  const activities = createActivities({
    agents: [defineAgent({ name: 'own', model, instructions: 'Own.' })],
    catalog: agents.catalog,
    services: undefined,
    ports: { [SPACES.id]: entered },
    mcp,
    restoreState: () => Promise.reject(new Error('no store')),
    flush: () => Promise.reject(new Error('no store')),
    publish: () => undefined,
    logger,
  });
  const callModel = async (agent = 'assistant', tenant = 'default') =>
    await environment({ attempt: 1 }).run(activities.callModel, modelInput({ agent, tenant }));
  return {
    ...{ agents, activities, requests, logged, callModel },
    async plan(name: string, input: object = {}): Promise<PlannedCall> {
      wanted.splice(0, wanted.length, { name, input });
      const { calls } = await callModel();
      wanted.length = 0;
      return calls[0]!.plan;
    },
    /** Judges the edit of a call, once it is not left to other workers any more. */
    async check({ toolCallId, name, made }: PlannedCall) {
      const { turnId, step, requester, ...of } = modelInput({ agent: 'assistant' });
      const about = { ...key, agent: of.agent, turnId, step, requester, toolCallId, name };
      const input = { ...about, made: { ref: made! }, input: { text: 'a' } };
      return await environment({ attempt: 9 }).run(activities.checkEdit, input);
    },
    async run(plan: PlannedCall) {
      return await environment().run(activities.runTool, runInput(plan, { agent: 'assistant' }));
    },
  };
}

function workers() {
  const store = memoryAgentDocuments();
  return { store, first: worker(store), second: worker(store) };
}

const shown = (request: ModelRequest | undefined) => ({
  instructions: request?.system.split('\n')[0],
  tools: (request?.tools ?? []).map(({ name }) => name),
});

it(
  'an agent that no worker had at its start is served by all of them; the next model call has its next version, and a call keeps its tool',
  promise('G407'),
  async () => {
    const { first, second } = workers();
    await expect(first.callModel()).rejects.toMatchObject({ type: 'unknown_agent' });
    await first.agents.put(OF, document('Help.', echo()));
    await first.callModel();
    expect(shown(first.requests.at(-1))).toEqual({ instructions: 'Help.', tools: ['echo'] });
    await second.callModel();
    expect(shown(second.requests.at(-1))).toEqual({ instructions: 'Help.', tools: ['echo'] });
    const parked = await first.plan('echo', { text: 'a' });
    const changed = echo({
      inputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
    });
    await first.agents.put(OF, document('Help more.', changed, echo({ name: 'other' })));
    await second.callModel();
    expect(shown(second.requests.at(-1))).toEqual({
      ...{ instructions: 'Help more.', tools: ['echo', 'other'] },
    });
    expect(parked.made).toMatchObject({ plugin: 'hsafa.agents', args: { version: 1 } });
    expect(await second.check(parked)).toMatchObject({ ok: true });
    expect(await second.check(await second.plan('echo', { n: 1 }))).toMatchObject({
      ...{ ok: false, problems: [{ path: '/resolution/input' }] },
    });
  },
);

it('an agent belongs to one tenant, and an agent of the worker goes before one of its name', async () => {
  const { store, first } = workers();
  await first.agents.put({ tenant: 'other' }, document('Help.'));
  await first.agents.put(OF, { ...document('Stored.'), name: 'own' });
  await expect(first.callModel()).rejects.toMatchObject({ type: 'unknown_agent' });
  await first.callModel('assistant', 'other');
  // Nothing is read for an agent of the worker.
  store.get = () => Promise.reject(new Error('the store is away'));
  await first.callModel('own');
  expect(first.requests.map(({ system }) => system)).toEqual(['Help.', 'Own.']);
});

it(
  'an agent that is deleted ends its turns by its name, and its calls, also once another agent has the name',
  promise('G408'),
  async () => {
    const { ledger, http } = await kit();
    const { first, second } = workers();
    const mcp = { servers: [{ name: 'kit', url: http.url, allowedTools: ['delete'] }] };
    await first.agents.put(OF, { ...document('Help.', echo()), mcp });
    const [call, ofServer] = [await first.plan('echo'), await first.plan('kit.delete')];
    await first.agents.delete(OF, 'assistant');
    await expect(second.callModel()).rejects.toMatchObject({
      ...{ type: 'unknown_agent', message: 'Agent "assistant" was deleted', nonRetryable: true },
    });
    const gone = {
      envelope: { ok: false, error: { code: 'not_available', message: /no longer available/ } },
    };
    for (let n = 0; n < 2; n += 1) {
      expect(await second.run(ofServer)).toMatchObject(gone);
      expect(await second.check(call)).toMatchObject({
        ...{ ok: false, ended: { code: 'not_available' } },
      });
      // Another agent of the name takes none of these calls.
      await first.agents.put(OF, { ...document('Help.', echo()), mcp });
    }
    expect(ledger.runs).toEqual([]);
    expect(await second.run(await first.plan('kit.delete'))).toMatchObject({
      envelope: { ok: true },
    });
  },
);

it('a call goes to the server of its version, and ends once the document leaves it out', async () => {
  const [old, next] = [await kit(), await kit()];
  const { first, second } = workers();
  const put = async (...servers: readonly object[]) =>
    await first.agents.put(OF, { ...document('Help.'), mcp: { servers } });
  await put({ name: 'kit', url: old.http.url, allowedTools: ['delete'] });
  const parked = [await first.plan('kit.delete'), await first.plan('kit.delete')] as const;
  await put({ name: 'kit', url: next.http.url, allowedTools: ['delete'] });
  expect(await second.run(parked[0])).toMatchObject({ envelope: { ok: true } });
  await put();
  expect(await second.run(parked[1])).toMatchObject({
    envelope: { ok: false, error: { code: 'not_available' } },
  });
  expect([old.ledger.runs, next.ledger.runs]).toEqual([['delete'], []]);
});

it('a store that cannot be read has the activity tried again, except a call that may run only once', async () => {
  const { store, first } = workers();
  await first.agents.put(OF, document('Help.', echo()));
  const plan = await first.plan('echo');
  store.get = () => Promise.reject(new Error('the store is away'));
  await expect(first.callModel()).rejects.toMatchObject({
    ...{ type: 'internal', message: 'the store is away', nonRetryable: false },
  });
  await expect(first.run(plan)).rejects.toMatchObject({ type: 'tool_lost' });
  const ended = await first.run({ ...plan, effects: 'once' });
  expect(ended).toMatchObject({ envelope: { ok: false, error: { code: 'not_available' } } });
  expect(JSON.stringify(ended)).toContain('cannot be read now; the tool did not run');
  // The model reads the result, and history keeps it.
  expect(JSON.stringify(ended)).not.toContain('the store is away');
});

it('a call that may run only once runs although reads of its agent have failed', async () => {
  const { ledger, http } = await kit();
  const { store, first } = workers();
  const mcp = { servers: [{ name: 'kit', url: http.url, allowedTools: ['delete'] }] };
  await first.agents.put(OF, { ...document('Help.'), mcp });
  const plan = await first.plan('kit.delete');
  const { get } = store;
  let reads = 0;
  store.get = (...of) => {
    reads += 1;
    return reads < 3 ? Promise.reject(new Error('the store is away')) : get(...of);
  };
  expect(await first.run({ ...plan, effects: 'once' })).toMatchObject({ envelope: { ok: true } });
  expect(ledger.runs).toEqual(['delete']);
});

it('a cancel ends the reads of an agent that the store does not give', async () => {
  const { store, first } = workers();
  await first.agents.put(OF, document('Help.', echo()));
  const plan = await first.plan('echo');
  const context = environment();
  store.get = () => {
    context.cancel('CANCELLED');
    return Promise.reject(new Error('the store is away'));
  };
  const input = runInput({ ...plan, effects: 'once' }, { agent: 'assistant' });
  await expect(context.run(first.activities.runTool, input)).rejects.toThrow(CancelledFailure);
});

it('an agent whose model the options have no more fails its turns for good, and its calls run', async () => {
  const { ledger, http } = await kit();
  const { store, first } = workers();
  const mcp = { servers: [{ name: 'kit', url: http.url, allowedTools: ['delete'] }] };
  await first.agents.put(OF, { ...document('Help.', echo()), mcp });
  const [shownCall, call] = [await first.plan('echo'), await first.plan('kit.delete')];
  const next = worker(store, {
    spaces: false,
    model: (name: string) => {
      throw new Error(`no model "${name}"`);
    },
  });
  for (let n = 0; n < 2; n += 1)
    await expect(next.callModel()).rejects.toMatchObject({
      ...{ type: 'internal', nonRetryable: true },
      message: expect.stringContaining('model: no model "fast"') as string,
    });
  expect(next.logged).toContain('agent not readable');
  expect(await next.check(shownCall)).toMatchObject({ ok: true });
  expect(await next.run(call)).toMatchObject({ envelope: { ok: true } });
  expect(ledger.runs).toEqual(['delete']);
});

it('a call of a tool with the name of a built-in one keeps its tool on a worker whose agents have these', async () => {
  const { store, first } = workers();
  await first.agents.put(OF, document('Help.', echo({ name: 'skip' })));
  const parked = await first.plan('skip', { text: 'a' });
  const next = worker(store, {});
  await next.callModel();
  expect(shown(next.requests.at(-1)).tools.toSorted()).toEqual(BUILT_IN_NAMES);
  expect(await next.check(parked)).toMatchObject({ ok: true });
});

it('a planned call of a built-in tool runs although the document of its agent is not readable', async () => {
  const store = memoryAgentDocuments();
  const first = worker(store, {});
  await first.agents.put(OF, document('Help.'));
  const plan = await first.plan('enter_space', { spaceId: 'sp_a' });
  const next = worker(store, {
    model: (name: string) => {
      throw new Error(`no model "${name}"`);
    },
  });
  await expect(next.callModel()).rejects.toMatchObject({ type: 'internal', nonRetryable: true });
  expect(await next.run(plan)).toMatchObject({
    envelope: { ok: true, result: { success: true, name: 'Desk' } },
  });
});

it('an agent has the tool documents that change by themselves besides, and summaries', async () => {
  const toolbox = hsafaToolbox(memoryToolDocuments());
  const { agents, callModel, requests, activities } = worker(memoryAgentDocuments(), {
    spaces: false,
    plugins: [toolbox.plugin],
  });
  await agents.put(OF, document('Help.', echo()));
  await toolbox.put({ ...OF, agent: 'assistant' }, echo({ name: 'more' }));
  await callModel();
  expect(shown(requests.at(-1)).tools).toEqual(['echo', 'more']);
  const { transcript } = modelInput();
  const summary = { ...key, agent: 'assistant', ordinal: 1, transcript };
  expect(await environment().run(activities.summarize, summary as SummarizeInput)).toMatchObject({
    text: 'Hello.',
  });
});

it('a part that a store holds against the rules takes no tool from the others', async () => {
  const { store, first } = workers();
  await first.agents.put(OF, document('Help.', echo()));
  const stored = await store.get(OF.tenant, 'assistant');
  if (stored === undefined || stored === 'deleted') throw new Error('not stored');
  const tools = [{ name: 'bad', executionType: 'gateway' }, echo()];
  const rotten = { ...stored.document, tools };
  await store.put(OF.tenant, { ...stored, document: rotten }, 9);
  await first.callModel();
  expect(shown(first.requests.at(-1)).tools).toEqual(['echo']);
  expect(first.logged).toContain('part of an agent document not used');
});

async function kit() {
  const ledger = mcpLedger();
  const http = await startMcpServer(() => kitServer(ledger));
  return { ledger, http };
}

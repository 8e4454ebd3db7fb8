/** Every snippet of agentic-core's documentation of tools, written anew with `colloquy/compat`, by its heading. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import {
  type CompletionEvent,
  completionEvents,
  completionOf,
  createPlugin,
  createTool,
  type ToolInput,
} from '../../../src/compat/index.js';
import { createServices, defineAgent, provide, type Services } from '../../../src/index.js';
import type { ScriptedAnswer } from '../../../src/model/scripted/types.js';
import { calls, callsAll, says, script, testConversation } from '../../../src/testing/index.js';

class NoteService {
  search(query: string, limit: number) {
    return Promise.resolve([{ id: 'n1', title: query, snippet: `first of ${limit}` }]);
  }
}
class DomainService {
  readonly known = new Set(['example.org']);
  isAllowed(domain: string): Promise<boolean> {
    return Promise.resolve(this.known.has(domain));
  }
  addDomain(domain: string): Promise<boolean> {
    this.known.add(domain);
    return Promise.resolve(true);
  }
}

async function services(): Promise<Services> {
  return await createServices([
    provide(NoteService, () => new NoteService()),
    provide(DomainService, () => new DomainService()),
  ]);
}

type Part = Partial<Pick<Parameters<typeof defineAgent<Services>>[0], 'tools' | 'plugins'>>;

async function conversationWith(parts: Part, ...answers: readonly ScriptedAnswer[]) {
  const agent = defineAgent<Services>({
    ...{ name: 'assistant', model: script(...answers), instructions: 'Help.', ...parts },
    settings: { toolExecution: 'sequential' },
  });
  return testConversation(agent, { services: await services() });
}

describe('Defining a Tool', () => {
  const search = createTool({
    id: 'notes.search',
    description: 'Finds notes that contain a word',
    input: z.object({ query: z.string().describe('the word'), limit: z.number().default(10) }),
    output: z.object({
      results: z.array(z.object({ id: z.string(), title: z.string(), snippet: z.string() })),
    }),
    invoke: async ({ input, services: container }) => {
      expectTypeOf(input).toEqualTypeOf<{ query: string; limit: number }>();
      const found = await container.get(NoteService).search(input.query, input.limit);
      return { results: found };
    },
  });

  it('gives invoke the parsed input and the services, and the model its result', async () => {
    const t = await conversationWith(
      { tools: [search] },
      calls('notes.search', { query: 'tea' }),
      says('One.'),
    );
    await t.send('Find tea');
    expect(t.result('notes.search')).toEqual({
      ok: true,
      result: { results: [{ id: 'n1', title: 'tea', snippet: 'first of 10' }] },
    });
  });

  it('shows the model descriptions of fields, and makes wrong arguments an error result', async () => {
    expect(JSON.stringify(search.inputSchema)).toContain('"description":"the word"');
    const t = await conversationWith(
      { tools: [search] },
      calls('notes.search', { query: 7 }),
      says('Oh.'),
    );
    await t.send('Find 7');
    expect(t.result('notes.search')).toMatchObject({ error: { code: 'invalid_input' } });
  });
});

describe('Accessing State', () => {
  const skills = createPlugin({
    id: 'skills',
    state: z.object({ active: z.array(z.string()) }).partial(),
    tools: [
      createTool({
        id: 'skill.activate',
        description: 'Activates a skill',
        input: z.object({ id: z.string() }),
        output: z.object({ success: z.boolean() }),
        invoke: async ({ input, state }: ToolInput<{ id: string }>) => {
          const plugin = await Promise.resolve(skills);
          const before = state.getState(plugin);
          const active = before.active ?? [];
          state.setState(plugin, { ...before, active: [...new Set([...active, input.id])] });
          return { success: true };
        },
      }),
    ],
  });

  it('reads and replaces the state of a plugin', async () => {
    const t = await conversationWith(
      { plugins: [skills] },
      callsAll([
        { name: 'skill.activate', input: { id: 'a' } },
        { name: 'skill.activate', input: { id: 'b' } },
        { name: 'skill.activate', input: { id: 'a' } },
      ]),
      says('Done.'),
    );
    await t.send('Go');
    const patches = t.events.filter(({ type }) => type === 'state_patch');
    expect(patches.at(-1)).toMatchObject({
      plugin: 'skills',
      changes: [{ op: 'set', path: '', value: { active: ['a', 'b'] } }],
    });
  });
});

describe('Making Tools Available', () => {
  const named = (id: string, invoke: (given: ToolInput<object>) => string = () => id) =>
    createTool({ id, description: id, input: z.object({}), output: z.string(), invoke });
  const items = createPlugin({
    id: 'items',
    state: z.object({ hasActiveItem: z.boolean().default(false) }),
    prepare: ({ tools, state }) => {
      tools.push(
        named('item.list'),
        named('item.open', (given) => {
          given.state.setState(items, { hasActiveItem: true });
          return 'open';
        }),
      );
      if (state.getState(items).hasActiveItem) tools.push(named('item.update'));
    },
    tools: [named('item.fixed')],
  });

  it('offers pushed tools by the state, and those of the list always', async () => {
    const t = await conversationWith(
      { plugins: [items] },
      calls('item.update', {}),
      calls('item.open', {}),
      calls('item.update', {}),
      calls('item.fixed', {}),
      says('Done.'),
    );
    await t.send('Go');
    const results = t.events.flatMap((event) =>
      event.type === 'tool_result' ? [[event.name, event.result.envelope.ok]] : [],
    );
    expect(results).toEqual([
      ['item.update', false],
      ['item.open', true],
      ['item.update', true],
      ['item.fixed', true],
    ]);
  });
});

it('Dynamic Tool Generation: tools that close over an id of the moment', async () => {
  const toolsFor = (triggerId: string) => [
    createTool({
      id: 'trigger.current.update',
      description: 'Updates the current trigger',
      input: z.object({ goal: z.string() }),
      output: z.object({ id: z.string(), goal: z.string() }),
      invoke: ({ input }) => ({ id: triggerId, ...input }),
    }),
  ];
  const triggers = createPlugin({
    id: 'triggers',
    state: z.unknown(),
    prepare: ({ tools }) => {
      tools.push(...toolsFor('t-7'));
    },
  });
  const t = await conversationWith(
    { plugins: [triggers] },
    calls('trigger.current.update', { goal: 'x' }),
    says('Ok.'),
  );
  await t.send('Go');
  expect(t.result('trigger.current.update')).toEqual({
    ok: true,
    result: { id: 't-7', goal: 'x' },
  });
});

describe('Human Approval', () => {
  const addDomain = createTool({
    id: 'web-fetch.add-domain',
    description: 'Allows a domain',
    input: z.object({ domain: z.string() }),
    output: z.object({ domain: z.string(), added: z.boolean() }),
    requireApproval: { required: true, reason: 'The domain stays allowed.' },
    invoke: async ({ input, services: container }) => ({
      domain: input.domain.toLowerCase(),
      added: await container.get(DomainService).addDomain(input.domain),
    }),
  });
  let asked = 0;
  const fetchPage = createTool({
    id: 'web-fetch.fetch',
    description: 'Fetches a page',
    input: z.object({ url: z.string() }),
    output: z.object({ status: z.number() }),
    requireApproval: async ({ input, services: container }) => {
      asked += 1;
      const domain = new URL(input.url).hostname.toLowerCase();
      const allowed = await container.get(DomainService).isAllowed(domain);
      return { required: !allowed, reason: `"${domain}" is not allowed yet.` };
    },
    invoke: () => ({ status: 200 }),
  });

  it('Static Approval and Approval Lifecycle: pending, asked for, approved, its result, completed', async () => {
    const t = await conversationWith(
      { tools: [addDomain] },
      calls('web-fetch.add-domain', { domain: 'Example.COM' }),
      says('Added.'),
    );
    await t.send('Add it');
    const reason = 'The domain stays allowed.';
    const call = { id: 'call_1', type: 'tool', function: 'web-fetch.add-domain' };
    const before: readonly CompletionEvent[] = [...completionEvents(t.events)];
    expect(before).toEqual([
      { type: 'output', output: { ...call, result: { type: 'pending', reason } } },
      {
        ...{ type: 'approval-requested', toolCallId: 'call_1', toolName: 'web-fetch.add-domain' },
        ...{ input: { domain: 'Example.COM' }, reason },
      },
    ]);
    await completionOf(t).approve('call_1');
    const output = { domain: 'example.com', added: true };
    expect([...completionEvents(t.events)].slice(2)).toEqual([
      { type: 'output', output: { ...call, result: { type: 'success', output } } },
      { type: 'output', output: { type: 'text', content: 'Added.' } },
      { type: 'completed', state: 'completed' },
    ]);
  });

  it('an error result takes the place of a rejected call, with the reason', async () => {
    const t = await conversationWith(
      { tools: [addDomain] },
      calls('web-fetch.add-domain', { domain: 'x.org' }),
      says('Not added.'),
    );
    await t.send('Add it');
    await completionOf(t).reject('call_1', 'not this one');
    expect(t.result('web-fetch.add-domain')).toMatchObject({
      ok: false,
      error: { code: 'denied', message: /not this one/ },
    });
    expect(t.text).toBe('Not added.');
  });

  it('Dynamic Approval: the function decides once, and invoke runs without another question', async () => {
    const t = await conversationWith(
      { tools: [fetchPage] },
      calls('web-fetch.fetch', { url: 'https://example.org/a' }),
      calls('web-fetch.fetch', { url: 'https://other.org/b' }),
      says('Read.'),
    );
    asked = 0;
    await t.send('Read both');
    expect(t.result('web-fetch.fetch')).toEqual({ ok: true, result: { status: 200 } });
    expect(t.pending).toMatchObject([{ reason: '"other.org" is not allowed yet.' }]);
    await completionOf(t).approve('call_2');
    expect([asked, t.text]).toEqual([2, 'Read.']);
  });

  it('several calls of one answer: the rest is processed after the approval, and may pause again', async () => {
    const t = await conversationWith(
      { tools: [addDomain, fetchPage] },
      callsAll([
        { name: 'web-fetch.add-domain', input: { domain: 'a.org' } },
        { name: 'web-fetch.fetch', input: { url: 'https://a.org/' } },
        { name: 'web-fetch.add-domain', input: { domain: 'b.org' } },
      ]),
      says('Both.'),
    );
    await t.send('Go');
    expect(t.pending.map(({ toolCallId }) => toolCallId)).toEqual(['call_1']);
    await completionOf(t).approve('call_1');
    // The second was allowed by the first.
    expect(t.result('web-fetch.fetch')).toEqual({ ok: true, result: { status: 200 } });
    expect(t.pending.map(({ toolCallId }) => toolCallId)).toEqual(['call_3']);
    await completionOf(t).approve('call_3');
    expect(t.text).toBe('Both.');
  });
});

it('How Tool Execution Works: a thrown error is a result that the model reads', async () => {
  const failing = createTool({
    id: 'a.fail',
    description: 'Fails',
    input: z.object({}),
    output: z.null(),
    invoke: () => {
      throw new Error('no disk');
    },
  });
  const t = await conversationWith({ tools: [failing] }, calls('a.fail', {}), says('It failed.'));
  await t.send('Go');
  expect(t.result('a.fail')).toMatchObject({ ok: false, error: { message: /no disk/ } });
  expect(t.text).toBe('It failed.');
});

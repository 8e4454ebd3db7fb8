/**
 * The snippets of agentic-core's documentation of tools, written anew with `colloquy/compat`, by their headings; those of
 * approvals are in `agentic-core-approval.test.ts`.
 */
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { createPlugin, createTool, type ToolInput } from '../../../src/compat/index.js';
import { type Json } from '../../../src/index.js';
import { calls, callsAll, says } from '../../../src/testing/index.js';
import { conversationWith, NoteService, TriggerService } from './agentic-core-parts.js';

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

describe('Input Schema, Output Schema and Accessing Services: trigger.create', () => {
  const input = z.object({
    title: z.string().describe('The name of the trigger'),
    goal: z.string().describe('The work that it starts'),
    schedule: z.object({
      type: z.enum(['once', 'cron']).describe('One time, or a schedule'),
      value: z.string().describe('An ISO date, or a cron expression'),
    }),
  });
  const output = z.object({ ...input.shape, id: z.string(), createdAt: z.iso.datetime() });
  const create = (createdAt: () => string) =>
    createTool({
      id: 'trigger.create',
      description: 'Creates a trigger',
      input,
      output,
      invoke: async ({ input: given, services: container }) => {
        const id = `t-${given.title}`;
        await container.get(TriggerService).insert({ id, ...given });
        return { ...given, id, createdAt: createdAt() };
      },
    });
  const given = {
    title: 'daily',
    goal: 'Count',
    schedule: { type: 'cron', value: '0 7 * * *' },
  } as const;
  const created = async (createdAt: () => string, args: Json = given) => {
    const parts = { tools: [create(createdAt)] };
    const t = await conversationWith(parts, calls('trigger.create', args), says('Done.'));
    await t.send('Create it');
    return t.result('trigger.create');
  };

  it('is sent to the model with the descriptions of all fields, also those of the object within', () => {
    expect(create(() => '').inputSchema).toMatchObject({
      properties: {
        title: { type: 'string', description: 'The name of the trigger' },
        schedule: {
          properties: {
            type: { enum: ['once', 'cron'], description: 'One time, or a schedule' },
            value: { description: 'An ISO date, or a cron expression' },
          },
          required: ['type', 'value'],
        },
      },
      required: ['title', 'goal', 'schedule'],
    });
  });

  it('is checked down to its fields before invoke, which writes by a service, and returns what its output says', async () => {
    const createdAt = '2026-01-02T03:04:05.000Z';
    expect(await created(() => createdAt)).toEqual({
      ok: true,
      result: { ...given, id: 't-daily', createdAt },
    });
    const wrong = { ...given, schedule: { type: 'hourly', value: '1' } };
    expect(await created(() => createdAt, wrong)).toMatchObject({
      error: { code: 'invalid_input', message: /schedule\/type/ },
    });
  });

  it('is an error result where invoke returns something else than its output', async () => {
    expect(await created(() => 'yesterday')).toMatchObject({
      ok: false,
      error: { message: /createdAt/ },
    });
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

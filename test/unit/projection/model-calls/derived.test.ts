/** Requests of model calls, derived from a log: they have the messages that the models of the same runs were given. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../../src/define/define-agent.js';
import { definePlugin } from '../../../../src/define/define-plugin.js';
import { defineTool } from '../../../../src/define/define-tool.js';
import { changesOf } from '../../../../src/projection/model-calls/changes.js';
import { callsAt, derivedRequest } from '../../../../src/projection/model-calls/derived.js';
import type { UsedDefinition } from '../../../../src/protocol/conversation/context.js';
import type { Message } from '../../../../src/protocol/conversation/messages.js';
import type { CanonicalEvent } from '../../../../src/protocol/log/events.js';
import type { ModelDefinition } from '../../../../src/protocol/model/definitions.js';
import type { Model, ModelRequest, ModelResponse } from '../../../../src/protocol/model/model.js';
import { testConversation } from '../../../../src/testing/index.js';
import { modelDefinitionOf } from '../../../../src/tools/model-input/definition.js';
import { promise } from '../../../support/promise.js';

type Spec = Parameters<typeof defineAgent>[0];

const look = defineTool({
  name: 'look',
  description: 'Looks a number up.',
  input: z.object({ n: z.number() }),
  effects: 'none',
  run: ({ n }) => ({ n, text: 'x'.repeat(400) }),
});

/** Calls `look` first, then answers; keeps every request. */
function recording(contextTokens?: number): {
  readonly model: Model;
  readonly asked: ModelRequest[];
} {
  const asked: ModelRequest[] = [];
  const generate = async (request: ModelRequest): Promise<ModelResponse> => {
    if (request.tools.length > 0) asked.push(request);
    const base = { finishReason: 'stop', usage: { inputTokens: 1, outputTokens: 1 }, model: 'm' };
    const last = request.messages.at(-1);
    if (last?.role === 'tool' || request.tools.length === 0) {
      const text = request.output === undefined ? 'seen' : '{"n":1}';
      return { ...base, parts: [{ type: 'text', text }], calls: [] };
    }
    const call = { id: `c${asked.length}`, name: 'look', argumentsJson: '{"n":1}' };
    return { ...base, parts: [], calls: [call] };
  };
  return {
    model: {
      ...{ name: 'm', generate, providerToolProblem: () => undefined },
      ...(contextTokens === undefined ? {} : { contextTokens }),
    },
    asked,
  };
}

async function* read(events: readonly CanonicalEvent[]): AsyncGenerator<CanonicalEvent> {
  yield* events;
}

async function derivedOf(
  events: readonly CanonicalEvent[],
  seq: number,
  definition?: ModelDefinition,
) {
  const found = await callsAt(read(events), seq);
  return found === undefined ? undefined : derivedRequest(found.call, definition);
}

async function played(spec: Partial<Spec>, turns: number, contextTokens?: number) {
  const { model, asked } = recording(contextTokens);
  const agent = defineAgent({ name: 'a', instructions: 'Do.', tools: [look], ...spec, model });
  const t = testConversation(agent, {});
  for (let turn = 1; turn <= turns; turn += 1) await t.send(`message ${turn} ${'y'.repeat(200)}`);
  const calls = t.events.filter(({ type }) => type === 'model_call');
  return { agent, asked, events: t.events, calls };
}

/** The log as workers write it, who name the definition of each call. */
function named(
  events: readonly CanonicalEvent[],
  definition: UsedDefinition,
): readonly CanonicalEvent[] {
  return events.map((event) =>
    event.type === 'model_call' && event.context !== undefined
      ? { ...event, context: { ...event.context, definition } }
      : event,
  );
}

describe('the derived request of a model call', promise('G396'), () => {
  it.each([
    ['a conversation without bounds', {}, undefined],
    ['a window of two turns', { context: { window: 2 } }, undefined],
    [
      'turns that are left out for the budget',
      { context: { maxTokens: 700, summarize: false } },
      700,
    ],
    ['turns that are summarised', { context: { maxTokens: 900 } }, 900],
  ] as const)('has the messages that the model was given: %s', async (_title, spec, tokens) => {
    const { asked, events, calls } = await played(spec, 8, tokens);
    expect(calls.length).toBe(asked.length);
    for (const [index, { seq }] of calls.entries()) {
      const derived = await derivedOf(events, seq);
      if (derived === undefined || 'reason' in derived) throw new Error('not derived');
      const given = asked[index]?.messages ?? [];
      expect(derived.request.messages.map(({ id }) => id)).toEqual(given.map(({ id }) => id));
      const isCut = derived.unknown.some((text) => text.includes('shortened'));
      if (!isCut) expect(derived.request.messages).toEqual(given);
    }
  });

  it('says that the log keeps neither the instructions nor the tools, and never those of another version', async () => {
    const { events, calls } = await played({}, 1);
    const derived = await derivedOf(events, calls[0]?.seq ?? 0);
    expect(derived).toMatchObject({
      unknown: [expect.stringContaining('system prompt'), expect.stringContaining('plugins')],
    });
    expect(derived).not.toHaveProperty('request.system');
    expect(derived).not.toHaveProperty('request.tools');
  });

  it('says why there is none: events that were lost, and seqs of other events', async () => {
    const { events, calls } = await played({}, 2);
    const seq = calls.at(-1)?.seq ?? 0;
    const [first] = events;
    const late = events.filter((event) => event.seq >= seq);
    expect(await derivedOf([first, ...late] as CanonicalEvent[], seq)).toEqual({
      reason: expect.stringContaining('does not have the events before') as string,
    });
    expect(await derivedOf(events, seq + 1)).toBeUndefined();
    expect(await derivedOf(events, 9_999)).toBeUndefined();
    expect(await derivedOf([], 1)).toBeUndefined();
  });
});

/** Fields that say how a provider may cache the request. */
function shownFields({ stableMessages: _stable, cacheKey: _key, ...request }: ModelRequest) {
  return request;
}

describe('with the definition of the agent, a derived request', promise('G421'), () => {
  const output = z.object({ n: z.number() });

  it.each([
    ['has the system prompt and the tools', {}],
    ['has the form of the answer and that of results', { output, resultForm: 'bare' }],
  ] as const)('is whole: it %s', async (_title, spec) => {
    const { agent, asked, events, calls } = await played(spec, 2);
    const { digest, definition } = modelDefinitionOf(agent);
    for (const [index, { seq }] of calls.entries()) {
      const derived = await derivedOf(named(events, { digest }), seq, definition);
      const request = shownFields(asked[index] as ModelRequest);
      expect(derived).toEqual({ request, unknown: [], isDefined: true });
    }
  });

  it('lacks what plugins or servers have changed for the call, and says so', async () => {
    const prepares = definePlugin({ id: 'p', prepare: () => undefined });
    const { agent, events, calls } = await played({ plugins: [prepares] }, 1);
    const { digest, definition } = modelDefinitionOf(agent);
    const of = async (used: Omit<UsedDefinition, 'digest'>) =>
      await derivedOf(named(events, { digest, ...used }), calls[0]?.seq ?? 0, definition);
    expect(await of({})).toMatchObject({
      request: { system: definition.system, tools: definition.tools },
      ...{ unknown: [expect.stringContaining('Text that plugins')], isDefined: true },
    });
    const tools = await of({ changed: ['tools'] });
    expect(tools).toMatchObject({
      request: { system: definition.system },
      unknown: [expect.stringContaining('The tools'), expect.stringContaining('Text that')],
    });
    expect(tools).not.toHaveProperty('request.tools');
    const both = await of({ changed: ['system', 'tools'] });
    expect(both).not.toHaveProperty('request.system');
    expect(both).toMatchObject({ isDefined: false });
  });

  it('lacks the configuration of provider tools, and says so', async () => {
    const hosted = defineTool({
      ...{ name: 'hosted', executor: 'provider' },
      provider: { type: 'web_search', user_location: 'CANARY' },
    });
    const { agent, events, calls } = await played({ tools: [look, hosted] }, 1);
    const { digest, definition } = modelDefinitionOf(agent);
    const of = async (used: Omit<UsedDefinition, 'digest'>) =>
      await derivedOf(named(events, { digest, ...used }), calls[0]?.seq ?? 0, definition);
    const derived = await of({});
    expect(derived).toMatchObject({
      request: { tools: [{ name: 'look' }, { name: 'hosted', provider: { type: 'web_search' } }] },
      ...{ unknown: [expect.stringContaining('provider tools')], isDefined: true },
    });
    expect(JSON.stringify(derived)).not.toContain('CANARY');
    expect(await of({ changed: ['tools'] })).toMatchObject({
      unknown: [expect.stringContaining('The tools')],
    });
  });

  it('has nothing of another version: a definition that is gone is named as unknown', async () => {
    const { agent, events, calls } = await played({}, 1);
    const { digest } = modelDefinitionOf(agent);
    const derived = await derivedOf(named(events, { digest }), calls[0]?.seq ?? 0);
    expect(derived).toMatchObject({
      ...{ unknown: [expect.stringContaining('has no more'), expect.anything()] },
      isDefined: false,
    });
    expect(derived).not.toHaveProperty('request.system');
  });

  it('has no form of the answer where the message asked for one, or for a text', async () => {
    const { agent, events, calls } = await played({ output }, 1);
    const { digest, definition } = modelDefinitionOf(agent);
    const withOutput = (form: unknown) =>
      named(events, { digest }).map((event) =>
        event.type === 'user_message' ? { ...event, output: form } : event,
      ) as readonly CanonicalEvent[];
    const of = async (form: unknown) =>
      await derivedOf(withOutput(form), calls[0]?.seq ?? 0, definition);
    expect(await of({ type: 'object' })).toMatchObject({
      unknown: [expect.stringContaining('form of the answer')],
    });
    for (const form of [{ type: 'object' }, false])
      expect(await of(form)).not.toHaveProperty('request.output');
    expect(await of(false)).toMatchObject({ unknown: [] });
  });
});

const user = (id: string, text: string): Message => ({
  ...{ role: 'user', id, turnId: 't' },
  parts: [{ type: 'text', text }],
});

describe('the differences between two requests', promise('G396'), () => {
  it('name messages by what became of them', () => {
    const before = { messages: [user('1', 'a'), user('2', 'b'), user('3', 'c')] };
    const after = { messages: [user('1', 'a'), user('3', 'C'), user('4', 'd')] };
    expect(changesOf({ before, since: 4 }, after, false)).toEqual({
      ...{ since: 4, same: 1, added: ['4'], removed: ['2'], changed: [user('3', 'c')] },
    });
  });

  it('name tools and settings where both requests are whole, and no mark of a cache', () => {
    const tool = (name: string, description: string) => ({ name, description, inputSchema: {} });
    const messages = [user('1', 'a')];
    const before = {
      messages,
      system: 'A',
      tools: [tool('x', '1'), tool('y', '1')],
      cacheKey: '1',
    };
    const after = {
      messages,
      system: 'B',
      tools: [tool('x', '2'), tool('z', '1')],
      stableMessages: 1,
    };
    expect(changesOf({ before, since: 4 }, after, true)).toMatchObject({
      ...{ same: 1, added: [], removed: [], changed: [], settings: ['system'] },
      tools: { added: ['z'], removed: ['y'], changed: ['x'] },
    });
  });
});

/**
 * Whole conversations with a real language model: llama.cpp's server with weights of 242 MB. Its words are nonsense, so
 * no test checks them; its streams, calls, truncation, cancellation and parallel requests are those of any model.
 */
import { createOpenAI } from '@ai-sdk/openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type LocalModel, startLocalModel } from '../../examples/demo/local-model.js';
import { tinyModel } from '../../examples/demo/tiny-model.js';
import type { Conversation } from '../../src/client/index.js';
import { type Agent, defineAgent } from '../../src/define/define-agent.js';
import { defineTool } from '../../src/define/define-tool.js';
import { aiSdkModel } from '../../src/model/ai-sdk/adapter.js';
import { openaiModel } from '../../src/model/openai/adapter.js';
import type { TurnResult } from '../../src/protocol/conversation/conversation.js';
import { textOf } from '../../src/protocol/conversation/messages.js';
import type { CanonicalEvent, EventType } from '../../src/protocol/log/events.js';
import type { LiveEvent } from '../../src/protocol/log/live-events.js';
import type { Model } from '../../src/protocol/model/model.js';
import { type Ledger, ledger, type Services } from '../support/engine/agents.js';
import { type Engine, startEngine } from '../support/engine/engine.js';
import { promise } from '../support/promise.js';
import { until } from '../support/until.js';

/** Includes the download at the first run. */
const START_MS = 400_000;

let local: LocalModel;
beforeAll(async () => {
  local = await startLocalModel((text) => {
    process.stderr.write(`${text}\n`);
  });
}, START_MS);
afterAll(() => local.close());

/** A busy machine produces a few words a second. */
const PATIENCE = '150s';

const APIS = ['chat', 'responses'] as const;
type Api = (typeof APIS)[number];

/** Answers with text. */
function talker(api: Api, maxOutputTokens: number): Model {
  return openaiModel(local.model, { ...reached(api), maxOutputTokens });
}

/** Has to call tools, and answers with text after their results. */
function caller(api: Api, maxOutputTokens: number): Model {
  return tinyModel(local.model, { ...reached(api), maxOutputTokens });
}

function reached(api: Api): { api: Api; baseURL: string; apiKey: string } {
  return { api, baseURL: local.url, apiKey: 'none' };
}

const Label = z.string().max(12);

/** Runs at once. */
const stock = defineTool<Services, z.ZodObject<{ item: typeof Label; size: z.ZodEnum }>>({
  name: 'shop.stock',
  description: 'How many of an item there are.',
  input: z.object({ item: Label, size: z.enum(['small', 'large']) }),
  effects: 'none',
  run: (input, ctx) => ctx.services.work({ name: 'shop.stock', input, ctx }),
});

/** Waits for an approval. */
const refund = defineTool<Services, z.ZodObject<{ reason: typeof Label }>>({
  name: 'payments.refund',
  description: 'Refund a payment.',
  input: z.object({ reason: Label }),
  effects: 'once',
  approval: { ask: { reason: 'Money leaves the house' } },
  run: (input, ctx) => ctx.services.work({ name: 'payments.refund', input, ctx }),
});

/** No model finishes its arguments within the token limit. */
const essay = defineTool<Services, z.ZodObject<{ text: z.ZodString }>>({
  name: 'essay.write',
  description: 'Write an essay.',
  input: z.object({ text: z.string().min(2_000) }),
  run: (input, ctx) => ctx.services.work({ name: 'essay.write', input, ctx }),
});

function agentOf(model: Model, tools: Agent<Services>['tools'] = []): Agent<Services> {
  return defineAgent<Services>({
    name: 'tiny',
    model,
    instructions: 'Help the customer.',
    tools,
    settings: { maxSteps: 2 },
  });
}

type Of<Type extends EventType> = Extract<CanonicalEvent, { type: Type }>;

function eventsOf<Type extends EventType>(
  log: readonly CanonicalEvent[],
  type: Type,
): readonly Of<Type>[] {
  return log.filter((event): event is Of<Type> => event.type === type);
}

/** The live events of a conversation from now on. */
function liveOf(engine: Engine, talk: Conversation): readonly LiveEvent[] {
  const seen: LiveEvent[] = [];
  const key = { tenant: 'default', conversationId: talk.id };
  engine.opened.live.subscribe(key, { live: true }, (message) => {
    if (message.type === 'live') seen.push(message.event);
  });
  return seen;
}

async function say(engine: Engine, talk: Conversation, text: string): Promise<TurnResult> {
  const turn = await engine.send(talk, text);
  return await turn.result({ timeout: PATIENCE });
}

async function begin(agent: Agent<Services>, services: Ledger = ledger()): Promise<Engine> {
  return await startEngine({ agents: [agent], services });
}

describe.each(APIS)('a real model through %s', (api) => {
  test('streams its text as it is produced, and remembers the conversation', {
    ...promise('G109'),
  }, async () => {
    const engine = await begin(agentOf(talker(api, 24)));
    const talk = engine.begin();
    const live = liveOf(engine, talk);
    expect(await say(engine, talk, 'Tell me a story.')).toMatchObject({ status: 'completed' });
    expect(await say(engine, talk, 'And then?')).toMatchObject({ status: 'completed' });
    const log = await engine.log(talk);
    const messages = eventsOf(log, 'assistant_message');
    const deltas = live.flatMap((event) => (event.type === 'text_delta' ? [event] : []));
    expect(deltas.length).toBeGreaterThan(4);
    for (const { messageId, offset, text } of deltas) {
      const message = messages.find((one) => one.messageId === messageId);
      expect(textOf(message?.parts ?? []).slice(offset, offset + text.length)).toBe(text);
    }
    const [first, second] = eventsOf(log, 'model_call').map(({ usage }) => usage);
    expect(first?.outputTokens).toBeGreaterThan(0);
    expect(first?.outputTokens).toBeLessThanOrEqual(24);
    expect(second?.inputTokens).toBeGreaterThan(first?.inputTokens ?? 0);
  });

  test('calls tools with valid arguments, several in one answer, and each call has exactly one result', {
    ...promise('G109'),
  }, async () => {
    const services = ledger();
    const engine = await begin(agentOf(caller(api, 80), [stock]), services);
    const talk = engine.begin();
    const result = await say(engine, talk, 'How many are there?');
    expect(result.status).toBe('completed');
    const log = await engine.log(talk);
    const asked = eventsOf(log, 'tool_call').map(({ call }) => call.toolCallId);
    expect(asked.length).toBeGreaterThan(1);
    expect(new Set(asked).size).toBe(asked.length);
    const results = eventsOf(log, 'tool_result').map(({ toolCallId }) => toolCallId);
    expect(results.toSorted()).toEqual(asked.toSorted());
    expect(services.runs.length).toBeGreaterThan(0);
    for (const { input } of services.runs)
      expect(input).toEqual({
        item: expect.any(String) as string,
        size: expect.stringMatching(/^(small|large)$/) as string,
      });
  });

  test('waits for an approval without a running request, and continues afterwards', async () => {
    const services = ledger();
    const engine = await begin(agentOf(caller(api, 48), [refund]), services);
    const talk = engine.begin();
    const turn = await engine.send(talk, 'Refund it, please.');
    const result = await turn.result({ timeout: PATIENCE });
    if (result.status !== 'waiting') throw new Error(`it did not wait: ${JSON.stringify(result)}`);
    expect(services.runs).toEqual([]);
    expect(await local.busySlots()).toBe(0);
    for (const { toolCallId } of result.pending) {
      const verdict = await talk.resolve(toolCallId, { type: 'approve' });
      expect(verdict.verdict).toBe('accepted');
    }
    const end = await turn.result({ timeout: PATIENCE, returnWhenWaiting: false });
    expect(end.status).toBe('completed');
    expect(services.runs).toHaveLength(result.pending.length);
  });

  test('that is truncated in the middle of its arguments gets an error, and nothing runs', {
    ...promise('G109'),
  }, async () => {
    const services = ledger();
    const engine = await begin(agentOf(caller(api, 24), [essay]), services);
    const talk = engine.begin();
    await say(engine, talk, 'Write.');
    const log = await engine.log(talk);
    const [half] = eventsOf(log, 'model_call');
    expect(half?.usage.outputTokens).toBe(24);
    // The server's Responses API does not report the truncation.
    if (api === 'chat') expect(half?.finishReason).toBe('length');
    expect(eventsOf(log, 'tool_result')).toMatchObject([
      { name: 'essay.write', result: { status: 'errored' } },
    ]);
    expect(services.runs).toEqual([]);
  });

  test('that is cancelled in the middle of its text stops working, and the text so far stays', {
    ...promise('G109'),
  }, async () => {
    const engine = await begin(agentOf(talker(api, 1_500)));
    const talk = engine.begin();
    const live = liveOf(engine, talk);
    const turn = await engine.send(talk, 'Tell me everything.');
    const heard = (): boolean => live.filter(({ type }) => type === 'text_delta').length > 3;
    await until('text', heard, { timeoutMs: 60_000 });
    expect(await local.busySlots()).toBe(1);
    await turn.cancel();
    expect(await turn.result({ timeout: PATIENCE })).toMatchObject({
      status: 'cancelled',
      text: expect.stringMatching(/./) as string,
    });
    const freed = (count: number): boolean => count === 0;
    await until('the slot is free', () => local.busySlots(), { holds: freed });
  });

  test('has four parallel conversations, each with its own answer', promise('G109'), async () => {
    const engine = await begin(agentOf(talker(api, 40)));
    const talks = ['one', 'two', 'three', 'four'].map((text) => ({ talk: engine.begin(), text }));
    const answers = Promise.all(talks.map(({ talk, text }) => say(engine, talk, text)));
    await until('four at once', () => local.busySlots(), {
      holds: (count) => count === local.slots,
      timeoutMs: 60_000,
    });
    for (const result of await answers) expect(result.status).toBe('completed');
    for (const { talk, text } of talks) {
      const log = await engine.log(talk);
      expect(eventsOf(log, 'user_message').map(({ parts }) => textOf(parts))).toEqual([text]);
      expect(eventsOf(log, 'assistant_message')).toHaveLength(1);
    }
  });
});

test('a real model through the AI SDK calls a tool, and continues with its result', async () => {
  const services = ledger();
  const languageModel = createOpenAI({ baseURL: local.url, apiKey: 'none' }).chat(local.model);
  const settings = { maxOutputTokens: 64, temperature: 0 };
  const asking = aiSdkModel(languageModel, { settings, toolChoice: 'required' });
  const telling = aiSdkModel(languageModel, { settings: { ...settings, maxOutputTokens: 16 } });
  const model: Model = {
    name: local.model,
    generate: (request, options) =>
      request.messages.at(-1)?.role === 'tool'
        ? telling.generate({ ...request, tools: [] }, options)
        : asking.generate(request, options),
  };
  const engine = await begin(agentOf(model, [stock]), services);
  const talk = engine.begin();
  expect((await say(engine, talk, 'How many?')).status).toBe('completed');
  expect(services.runs.length).toBeGreaterThan(0);
  const calls = eventsOf(await engine.log(talk), 'model_call').map(({ usage }) => usage);
  expect(calls.map(({ outputTokens }) => outputTokens > 0)).toEqual([true, true]);
});

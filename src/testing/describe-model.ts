/** `describeModel`: the contract of every `Model`, of any provider, as tests in the author's own runner. */
import assert from 'node:assert/strict';
import { type Message, textOf } from '../protocol/conversation/messages.js';
import type {
  Model,
  ModelRequest,
  ModelResponse,
  ModelStreamEvent,
} from '../protocol/model/model.js';
import type { Json } from '../protocol/values/json.js';
import type { TestRunner } from './describe-tool.js';

/** The answer that the model behind the adapter shall give. */
export interface PlannedAnswer {
  readonly text?: string;
  /** Calls of one step, in this order. */
  readonly calls?: readonly { readonly name: string; readonly input: Json }[];
}

/** The conversation that one test has with the model, usually played by a server of the author. */
export interface ModelPlan {
  readonly first: PlannedAnswer;
  /** The answer once the transcript ends with tool results. @defaultValue the first */
  readonly afterResults?: PlannedAnswer;
  /** Milliseconds that every piece of the stream takes. Models in the process may ignore it. */
  readonly pieceDelayMs?: number;
}

export interface MadeModel {
  readonly model: Model;
  /** Called when the test is over. */
  close(): Promise<void>;
}

const TEXT = 'Grüße 🌦 from a model that takes its time to say this.';
const CALLS = [
  { name: 'weather.lookup', input: { city: 'Berlin', days: [1, 2] } },
  { name: 'cart.read', input: {} },
  { name: 'weather.lookup', input: { city: 'Zürich "old town"', days: [] } },
];
const TOOLS: ModelRequest['tools'] = ['weather.lookup', 'cart.read'].map((name) => ({
  name,
  description: `The tool ${name}`,
  inputSchema: { type: 'object' },
}));
const QUESTION: readonly Message[] = [
  {
    role: 'user',
    id: 'm1',
    turnId: 't1',
    parts: [{ type: 'text', text: 'How is the weather, and what is in my cart?' }],
  },
];
const REQUEST: ModelRequest = { system: 'Be brief.', messages: QUESTION, tools: TOOLS };
/** A stopped call ends within this time, since a user has pressed a button. */
const STOP_WITHIN_MS = 500;

type Prepare = (plan: ModelPlan) => Promise<Model>;
type Body = (prepared: Prepare) => Promise<void>;

/**
 * Registers the tests of one kind of model. Calls `make` once a test for a model whose provider plays the plan. The
 * tests follow the port, `src/protocol/model/model.ts`.
 */
export function describeModel(
  name: string,
  make: (plan: ModelPlan) => Promise<MadeModel>,
  { describe, it }: TestRunner,
): void {
  describe(`${name} as a model`, () => {
    for (const [title, body] of Object.entries(TESTS))
      it(title, async () => {
        const open: MadeModel[] = [];
        try {
          await body(async (plan) => {
            const made = await make(plan);
            open.push(made);
            return made.model;
          });
        } finally {
          await Promise.all(open.map((made) => made.close()));
        }
      });
  });
}

const TESTS: Readonly<Record<string, Body>> = {
  'streams its text in pieces that join to the text of the answer': async (prepared) => {
    const { response, events } = await ask(await prepared({ first: { text: TEXT } }));
    const pieces = events.map((event) => (event.type === 'text' ? event.text : ''));
    assert.ok(pieces.length > 3, `came in ${pieces.length} pieces`);
    assert.equal(pieces.join(''), TEXT);
    assert.equal(textOf(response.parts), TEXT);
    assert.deepEqual(response.calls, []);
    assert.equal(response.finishReason, 'stop');
  },

  'says which model answered and what it cost': async (prepared) => {
    const { response } = await ask(await prepared({ first: { text: TEXT } }));
    assert.notEqual(response.model, '');
    assert.ok(response.usage.inputTokens > 0, 'no input tokens');
    assert.ok(response.usage.outputTokens > 0, 'no output tokens');
  },

  'gives parallel calls in order, under their own dotted names, with different ids': async (
    prepared,
  ) => {
    const model = await prepared({ first: { text: 'One moment.', calls: CALLS } });
    const { response, events } = await ask(model);
    assert.equal(response.finishReason, 'tool_calls');
    assert.deepEqual(
      response.calls.map(({ name, argumentsJson }) => ({
        name,
        input: JSON.parse(argumentsJson) as Json,
      })),
      CALLS,
    );
    assert.equal(new Set(response.calls.map(({ id }) => id)).size, CALLS.length);
    const lastText = events.findLastIndex(({ type }) => type === 'text');
    const firstCall = events.findIndex(({ type }) => type === 'tool_arguments');
    assert.ok(lastText < firstCall, 'a call was streamed before the text that came first');
    for (const [index, { name, argumentsJson }] of response.calls.entries())
      assert.deepEqual(streamedCall(events, index), { name, text: argumentsJson });
  },

  'takes the results of its calls, good and bad, in the next request': async (prepared) => {
    const plan = { first: { calls: CALLS }, afterResults: { text: 'Thank you.' } };
    const model = await prepared(plan);
    const { response } = await ask(model);
    const next = await ask(model, [...QUESTION, ...stepOf(response)]);
    assert.equal(textOf(next.response.parts), 'Thank you.');
  },

  'answers in JSON, and leaves what it was given as it was': async (prepared) => {
    const model = await prepared({ first: { text: TEXT, calls: CALLS } });
    const request = frozen(structuredClone({ ...REQUEST, messages: [...QUESTION] }));
    const { response } = await ask(model, request.messages);
    assert.deepEqual(JSON.parse(JSON.stringify(response)), response);
  },

  'rejects without a piece when its signal had fired before': async (prepared) => {
    const model = await prepared({ first: { text: TEXT } });
    const events: ModelStreamEvent[] = [];
    const signal = AbortSignal.abort();
    const onEvent = (event: ModelStreamEvent): void => void events.push(event);
    await assert.rejects(model.generate(REQUEST, { signal, onEvent }), /abort/i);
    assert.deepEqual(events, []);
  },

  'stops at once when its signal fires half-way, with the reason of the signal': async (
    prepared,
  ) => {
    const model = await prepared({ first: { text: TEXT }, pieceDelayMs: 20 });
    const stop = new AbortController();
    const reason = new Error('the user pressed stop');
    const events: ModelStreamEvent[] = [];
    let stoppedAt = 0;
    const answer = model.generate(REQUEST, {
      signal: stop.signal,
      onEvent: (event) => {
        events.push(event);
        if (events.length < 2) return;
        stoppedAt = performance.now();
        stop.abort(reason);
      },
    });
    await assert.rejects(answer, (error) => error === reason);
    const tookMs = performance.now() - stoppedAt;
    assert.ok(tookMs < STOP_WITHIN_MS, `stopped after ${tookMs} ms`);
    assert.equal(events.length, 2);
  },
};

async function ask(
  model: Model,
  messages: readonly Message[] = QUESTION,
): Promise<{ readonly response: ModelResponse; readonly events: readonly ModelStreamEvent[] }> {
  const events: ModelStreamEvent[] = [];
  const response = await model.generate(
    { ...REQUEST, messages },
    { signal: new AbortController().signal, onEvent: (event) => events.push(event) },
  );
  return { response, events };
}

/** The transcript of one step, as the engine writes it. */
function stepOf(response: ModelResponse): readonly Message[] {
  const at = { turnId: 't1', step: 1 };
  const asked = response.calls.map(({ id, name, argumentsJson }) => ({
    type: 'tool_call' as const,
    toolCallId: id,
    name,
    argumentsJson,
  }));
  const results = response.calls.map(({ id, name }, index) => ({
    type: 'tool_result' as const,
    toolCallId: id,
    name,
    envelope:
      index === 0
        ? { ok: false as const, error: { code: 'timeout' as const, message: 'Tool timed out' } }
        : { ok: true as const, result: { items: ['a', null, 3] } },
  }));
  return [
    { role: 'assistant', id: 't1.1', ...at, parts: [...response.parts, ...asked] },
    { role: 'tool', id: 't1.1r', ...at, parts: results },
  ];
}

function streamedCall(
  events: readonly ModelStreamEvent[],
  index: number,
): { readonly name: string | undefined; readonly text: string } {
  const own = events.flatMap((event) =>
    event.type === 'tool_arguments' && event.index === index ? [event] : [],
  );
  const names = own.map((event) => ('name' in event ? event.name : undefined));
  return {
    name: names.findLast((name) => name !== undefined),
    text: own.map(({ text }) => text).join(''),
  };
}

function frozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  for (const item of Object.values(value)) frozen(item);
  return Object.freeze(value);
}

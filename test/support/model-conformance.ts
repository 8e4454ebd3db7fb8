/** What every `Model` must do, whatever is behind it. */
import { afterEach, describe, expect, it } from 'vitest';
import type { Json } from '../../src/protocol/json.js';
import type { Message } from '../../src/protocol/messages.js';
import type {
  Model,
  ModelRequest,
  ModelResponse,
  ModelStreamEvent,
} from '../../src/protocol/model.js';

/** What the model behind the adapter shall answer. */
export interface PlannedAnswer {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly input: Json }[];
}

export interface ModelPlan {
  readonly first: PlannedAnswer;
  /** Once the transcript ends with tool results. */
  readonly afterResults?: PlannedAnswer;
  /** Every piece takes this long. Models in the process may ignore it. */
  readonly pieceDelayMs?: number;
}

export interface MadeModel {
  readonly model: Model;
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

/** Runs the suite for one kind of model. */
export function describeModel(name: string, make: (plan: ModelPlan) => Promise<MadeModel>): void {
  describe(`${name} as a model`, () => {
    const open: MadeModel[] = [];
    const prepared = async (plan: ModelPlan): Promise<Model> => {
      const made = await make(plan);
      open.push(made);
      return made.model;
    };
    afterEach(async () => {
      await Promise.all(open.splice(0).map((made) => made.close()));
    });
    answers(prepared);
    aborts(prepared);
  });
}

function answers(prepared: (plan: ModelPlan) => Promise<Model>): void {
  it('streams its text in pieces that join to the text of the answer', async () => {
    const { response, events } = await ask(await prepared({ first: { text: TEXT } }));
    const pieces = events.map((event) => (event.type === 'text' ? event.text : ''));
    expect(pieces.length).toBeGreaterThan(3);
    expect(pieces.join('')).toBe(TEXT);
    expect(response.parts).toEqual([{ type: 'text', text: TEXT }]);
    expect(response.calls).toEqual([]);
    expect(response.finishReason).toBe('stop');
  });

  it('says which model answered and what it cost', async () => {
    const { response } = await ask(await prepared({ first: { text: TEXT } }));
    expect(response.model).not.toBe('');
    expect(response.usage.inputTokens).toBeGreaterThan(0);
    expect(response.usage.outputTokens).toBeGreaterThan(0);
  });

  it('gives parallel calls in order, under their own dotted names, with different ids', async () => {
    const model = await prepared({ first: { text: 'One moment.', calls: CALLS } });
    const { response, events } = await ask(model);
    expect(response.finishReason).toBe('tool_calls');
    expect(
      response.calls.map((call) => ({
        name: call.name,
        input: JSON.parse(call.argumentsJson) as Json,
      })),
    ).toEqual(CALLS);
    expect(new Set(response.calls.map(({ id }) => id)).size).toBe(CALLS.length);
    expect(events.findLastIndex(({ type }) => type === 'text')).toBeLessThan(
      events.findIndex(({ type }) => type === 'tool_arguments'),
    );
    for (const [index, call] of response.calls.entries())
      expect(streamedCall(events, index)).toEqual({ name: call.name, text: call.argumentsJson });
  });

  it('takes the results of its calls, good and bad, in the next request', async () => {
    const plan = { first: { calls: CALLS }, afterResults: { text: 'Thank you.' } };
    const model = await prepared(plan);
    const { response } = await ask(model);
    const next = await ask(model, [...QUESTION, ...stepOf(response)]);
    expect(next.response.parts).toEqual([{ type: 'text', text: 'Thank you.' }]);
  });
}

function aborts(prepared: (plan: ModelPlan) => Promise<Model>): void {
  it('rejects without a piece when its signal had fired before', async () => {
    const model = await prepared({ first: { text: TEXT } });
    const events: ModelStreamEvent[] = [];
    const options = {
      signal: AbortSignal.abort(),
      onEvent: (event: ModelStreamEvent) => events.push(event),
    };
    await expect(model.generate(REQUEST, options)).rejects.toThrow(/abort/i);
    expect(events).toEqual([]);
  });

  it('stops at once when its signal fires half-way, with the reason of the signal', async () => {
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
    await expect(answer).rejects.toBe(reason);
    expect(performance.now() - stoppedAt).toBeLessThan(500);
    expect(events).toHaveLength(2);
  });
}

const QUESTION: readonly Message[] = [
  {
    role: 'user',
    id: 'm1',
    turnId: 't1',
    parts: [{ type: 'text', text: 'How is the weather, and what is in my cart?' }],
  },
];
const REQUEST: ModelRequest = { system: 'Be brief.', messages: QUESTION, tools: TOOLS };

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

/**
 * Faulty streams of a mock server of another project: cut, garbled, dropped, slow; and with searches of the provider.
 */
import { type ChaosConfig, type FixtureOpts, LLMock } from '@copilotkit/aimock';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type OpenAIApi, openaiModel } from '../../../../src/model/openai/adapter.js';
import type { ModelFailure } from '../../../../src/model/shared/failure.js';
import { type Message, textOf } from '../../../../src/protocol/conversation/messages.js';
import type {
  ModelReport,
  ModelResponse,
  ModelStreamEvent,
  ModelTool,
} from '../../../../src/protocol/model/model.js';
import { toWireName } from '../../../../src/protocol/values/tool-names.js';
import { failure } from '../../../support/fakes/language-models.js';
import { tapped } from '../../../support/fakes/tapped.js';

const TEXT = 'The weather in Berlin is fine, and it will stay so until the end of the week.';
const CITY = JSON.stringify({ city: 'Berlin', country: 'Germany', unit: 'celsius' });
const LOOKUP: ModelTool = {
  name: 'weather.lookup',
  description: 'Looks up',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
};
const SEARCH: ModelTool = { name: 'web.search', provider: { type: 'web_search' } };
const QUESTION: Message = {
  role: 'user',
  id: 'u',
  turnId: 't1',
  parts: [{ type: 'text', text: 'How is the weather?' }],
};
const CALLS = { toolCalls: [{ name: toWireName(LOOKUP.name), arguments: CITY, id: 'call_1' }] };

const CUTS_AT_ONCE = 10;

type Given = Parameters<LLMock['onMessage']>[1];

async function mocking(given: Given, options: FixtureOpts = {}): Promise<LLMock> {
  const mock = new LLMock({ port: 0, chunkSize: 5 });
  mock.onMessage(/.*/, given, options);
  await mock.start();
  onTestFinished(() => mock.stop());
  return mock;
}

interface Asked {
  readonly answer: Promise<ModelResponse>;
  readonly events: readonly ModelStreamEvent[];
  readonly reports: readonly ModelReport[];
  /** When each event came, in ms. */
  readonly times: readonly number[];
}

interface Asking {
  readonly messages?: readonly Message[];
  readonly tools?: readonly ModelTool[];
  readonly requestTimeoutMs?: number;
}

function ask(url: string, api: OpenAIApi, asking: Asking = {}): Asked {
  const { messages = [QUESTION], tools = [LOOKUP], ...options } = asking;
  const events: ModelStreamEvent[] = [];
  const reports: ModelReport[] = [];
  const times: number[] = [];
  const model = openaiModel('gpt-5.1', {
    baseURL: `${url}/v1`,
    apiKey: 'sk-mock-1234567',
    api,
    ...options,
  });
  const answer = model.generate(
    { system: '', messages, tools },
    {
      signal: new AbortController().signal,
      onEvent: (event) => {
        events.push(event);
        times.push(performance.now());
      },
      onReport: (report) => reports.push(report),
    },
  );
  answer.catch(() => undefined);
  return { answer, events, reports, times };
}

function textIn(events: readonly ModelStreamEvent[]): string {
  return events.map((event) => (event.type === 'text' ? event.text : '')).join('');
}

function argumentsIn(events: readonly ModelStreamEvent[]): string {
  return events.map((event) => (event.type === 'tool_arguments' ? event.text : '')).join('');
}

interface CutEnd {
  readonly asked: Asked;
  readonly end: ModelResponse | ModelFailure;
}

/**
 * Cuts the stream behind the first piece, behind the second, and so on, until the answer is there: all ends, the last
 * one good.
 */
async function cutEverywhere(given: Given, api: OpenAIApi): Promise<CutEnd[]> {
  const ends: CutEnd[] = [];
  for (let before = 0; before < 100; before += CUTS_AT_ONCE) {
    const cuts = Array.from({ length: CUTS_AT_ONCE }, (_, index) => before + index + 1);
    for (const cut of await Promise.all(cuts.map((pieces) => cutBehind(pieces, given, api)))) {
      ends.push(cut);
      if ('parts' in cut.end) return ends;
    }
  }
  throw new Error('the stream has no end');
}

async function cutBehind(pieces: number, given: Given, api: OpenAIApi): Promise<CutEnd> {
  const mock = await mocking(given, { truncateAfterChunks: pieces, latency: 2 });
  const asked = ask(mock.url, api);
  const end = await asked.answer.catch(() => failure(asked.answer));
  expect(mock.getRequests()).toHaveLength(1);
  return { asked, end };
}

const BROKEN = { code: 'model_stream_broken', retryable: true };

/** Before its first piece has left the server, there is no stream that could be cut. */
function cutOf({ asked }: CutEnd): object {
  const isBegun = asked.reports.some(({ type }) => type === 'accepted');
  return isBegun ? BROKEN : { ...BROKEN, code: 'model_unavailable' };
}

describe.each(['chat', 'responses'] as const)('a mock of OpenAI, asked through %s', (api) => {
  it('gives a text whole, or fails: with a cut anywhere, watchers saw a beginning of it and no more', async () => {
    const ends = await cutEverywhere({ content: TEXT }, api);
    const whole = ends.pop()?.end;
    expect(whole).toMatchObject({ finishReason: 'stop', parts: expect.anything() as unknown });
    expect(whole !== undefined && 'parts' in whole ? textOf(whole.parts) : '').toBe(TEXT);
    // At least one for each piece of the text.
    expect(ends.length).toBeGreaterThan(TEXT.length / 5);
    for (const cut of ends) {
      expect(cut.end).toMatchObject(cutOf(cut));
      expect(TEXT.startsWith(textIn(cut.asked.events))).toBe(true);
    }
    expect(ends.some(({ asked }) => textIn(asked.events) !== '')).toBe(true);
  });

  it('gives a call whole, or fails: half of its arguments are shown, and never run', async () => {
    const ends = await cutEverywhere(CALLS, api);
    expect(ends.pop()?.end).toMatchObject({
      finishReason: 'tool_calls',
      calls: [{ id: 'call_1', name: 'weather.lookup', argumentsJson: CITY }],
    });
    expect(ends.length).toBeGreaterThan(CITY.length / 5);
    for (const cut of ends) {
      expect(cut.end).toMatchObject(cutOf(cut));
      expect(CITY.startsWith(argumentsIn(cut.asked.events))).toBe(true);
    }
    expect(ends.some(({ asked }) => argumentsIn(asked.events) !== '')).toBe(true);
  });

  it.each<[string, ChaosConfig, object]>([
    [
      'an answer that is no stream of events',
      { malformedRate: 1 },
      { ...BROKEN, message: expect.stringContaining('sent no events') as string },
    ],
    ['a 500', { dropRate: 1 }, { code: 'model_unavailable', retryable: true }],
    [
      'a limited rate',
      { rateLimitRate: 1 },
      { code: 'model_rate_limited', retryable: true, retryAfterMs: 1_000 },
    ],
    ['a connection that is cut', { disconnectRate: 1 }, { retryable: true }],
  ])('that answers with %s has failed, and nothing was shown', async (_what, chaos, expected) => {
    const mock = await mocking({ content: TEXT });
    mock.setChaos(chaos);
    const { answer, events } = ask(mock.url, api);
    expect(await failure(answer)).toMatchObject(expected);
    expect(events).toEqual([]);
  });

  it('that is slow is shown as it comes, and counts as silent neither before its first piece nor between', async () => {
    const slow = { streamingProfile: { ttft: 120, tps: 40 } };
    const long = `${TEXT} ${TEXT} ${TEXT}`;
    const mock = await mocking({ content: long, reasoning: 'Let me think.' }, slow);
    const requestTimeoutMs = 1_000;
    const { answer, events, times } = ask(mock.url, api, { requestTimeoutMs });
    expect(textOf((await answer).parts)).toBe(long);
    expect(textIn(events)).toBe(long);
    const [first = 0] = times;
    // Piece by piece, and longer in all than one silence may be.
    expect((times.at(-1) ?? 0) - first).toBeGreaterThan(requestTimeoutMs);
    expect(events.length).toBeGreaterThan(long.length / 5);
  });

  it('that is silent for too long is given up: before its beginning as absent, after that as cut', async () => {
    const late = await mocking({ content: TEXT }, { chaos: { latencyMs: 2_000 } });
    expect(await failure(ask(late.url, api, { requestTimeoutMs: 100 }).answer)).toMatchObject({
      code: 'model_unavailable',
      retryable: true,
    });
    const stalled = await mocking({ content: TEXT }, { streamingProfile: { ttft: 1, tps: 0.5 } });
    const asked = ask(stalled.url, api, { requestTimeoutMs: 400 });
    expect(await failure(asked.answer)).toMatchObject(BROKEN);
    expect(asked.reports).toContainEqual({ type: 'accepted' });
  });
});

describe('a mock of OpenAI that searches the web', () => {
  const FOUND = { content: TEXT, reasoning: 'Let me look.', webSearches: ['berlin', 'rain'] };

  it('has its searches shown as calls of the provider, and its items given back as they came', async () => {
    const mock = await mocking(FOUND);
    const { url, bodies } = await tapped(mock.url);
    const asked = ask(url, 'responses', { tools: [SEARCH] });
    const response = await asked.answer;
    expect(bodies[0]).toMatchObject({
      tools: [{ type: 'web_search' }],
      include: ['reasoning.encrypted_content', 'web_search_call.action.sources'],
    });
    const [berlin, rain] = response.providerCalls ?? [];
    expect(response.providerCalls).toEqual(
      ['berlin', 'rain'].map((query) => ({
        id: expect.stringMatching(/^ws/) as string,
        name: 'web.search',
        input: { type: 'search', query },
        outcome: { output: { sources: [] } },
      })),
    );
    expect(asked.events.filter(({ type }) => type === 'provider_call')).toEqual(
      [berlin, rain].map((call) => ({ type: 'provider_call', id: call?.id, name: 'web.search' })),
    );
    expect(response.calls).toEqual([]);
    await ask(url, 'responses', {
      tools: [SEARCH],
      messages: [
        QUESTION,
        { role: 'assistant', id: 'a', turnId: 't1', step: 1, parts: response.parts },
        { ...QUESTION, id: 'u2', turnId: 't2' },
      ],
    }).answer;
    const question = { role: 'user', content: 'How is the weather?' };
    const searched = (call: typeof berlin, query: string) => ({
      type: 'web_search_call',
      id: call?.id,
      status: 'completed',
      action: { type: 'search', query },
    });
    expect(bodies[1]?.['input']).toMatchObject([
      question,
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Let me look.' }] },
      searched(berlin, 'berlin'),
      searched(rain, 'rain'),
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: TEXT }] },
      question,
    ]);
  });

  it('gives none of them where its stream is cut behind them, so that no search is recorded without its answer', async () => {
    const ends = await cutEverywhere(FOUND, 'responses');
    expect(ends.pop()?.end).toMatchObject({ providerCalls: [{}, {}] });
    for (const cut of ends) expect(cut.end).toMatchObject(cutOf(cut));
    expect(
      ends.some(({ asked }) => asked.events.some(({ type }) => type === 'provider_call')),
    ).toBe(true);
  });

  it('has none through Chat Completions, which has no such calls: the text is there', async () => {
    const mock = await mocking(FOUND);
    const { answer, events } = ask(mock.url, 'chat');
    const response = await answer;
    expect(textOf(response.parts)).toBe(TEXT);
    expect(response.providerCalls).toBeUndefined();
    expect(events.some(({ type }) => type === 'provider_call')).toBe(false);
    const refused = ask(mock.url, 'chat', { tools: [SEARCH] });
    expect(await failure(refused.answer)).toMatchObject({
      code: 'model_bad_request',
      retryable: false,
    });
  });
});

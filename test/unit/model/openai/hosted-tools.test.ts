/** Tools that OpenAI runs inside the model call, over real connections. */
import OpenAI from 'openai';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openaiModel } from '../../../../src/model/openai/adapter.js';
import type { ToolResultEnvelope } from '../../../../src/protocol/calls/results.js';
import { startWireServer } from '../../../support/networks/wire-server.js';
import { promise } from '../../../support/promise.js';
import { eventsOf, message, wholeResponse } from '../../../support/samples/wire-events.js';
import {
  answered,
  DONE,
  Files,
  type Items,
  lookedAt,
  progressOf,
  sentAgain,
  transcript,
} from '../../../support/servers/hosted-wire.js';

type Item = Items[number];

const SEARCHED = {
  type: 'web_search_call',
  id: 'ws_1',
  status: 'completed',
  action: {
    type: 'search',
    queries: ['rain berlin'],
    sources: [{ type: 'url', url: 'https://example.com' }],
  },
} satisfies Item;

const FOUND = {
  type: 'file_search_call',
  id: 'fs_1',
  status: 'completed',
  queries: ['refunds'],
  results: [{ file_id: 'file_1', filename: 'terms.pdf', score: 0.9, text: 'Within 14 days' }],
} satisfies Item;

const COMPUTED = {
  type: 'code_interpreter_call',
  id: 'ci_1',
  status: 'completed',
  container_id: 'cntr_1',
  code: 'print(1+1)',
  outputs: [{ type: 'logs', logs: '2' }],
} satisfies Item;

const LOOKED_UP = {
  type: 'mcp_call',
  id: 'mcp_1',
  server_label: 'dw',
  name: 'ask',
  arguments: '{"q":"x"}',
  output: 'It is so.',
  status: 'completed',
} satisfies Item;

const LISTED = {
  type: 'mcp_list_tools',
  id: 'mcpl_1',
  server_label: 'gh',
  tools: [{ name: 'merge', input_schema: { type: 'object' } }],
} satisfies Item;

const ASKED = {
  type: 'mcp_approval_request',
  id: 'mcpr_1',
  server_label: 'gh',
  name: 'merge',
  arguments: '{"pr":7}',
} satisfies Item;

const PICTURE_BYTES = Buffer.alloc(60_000, 7);
const PICTURE = {
  type: 'image_generation_call',
  id: 'ig_1',
  status: 'completed',
  result: PICTURE_BYTES.toString('base64'),
  output_format: 'png',
} satisfies Item & { readonly output_format: 'png' };

const CITED = message('msg_1', [
  {
    type: 'output_text',
    text: 'Within 14 days.',
    annotations: [
      { type: 'file_citation', file_id: 'file_1', filename: 'terms.pdf', index: 14 },
      {
        type: 'container_file_citation',
        container_id: 'cntr_1',
        file_id: 'cfile_1',
        filename: 'plot.png',
        start_index: 0,
        end_index: 6,
      },
    ],
  },
]);

interface Row {
  readonly item: Item;
  readonly call: object;
  readonly progress: readonly string[];
}

const ROWS: Readonly<Record<string, Row>> = {
  'web search': {
    item: SEARCHED,
    call: {
      name: 'web.search',
      input: { type: 'search', queries: ['rain berlin'] },
      outcome: { output: { sources: [{ type: 'url', url: 'https://example.com' }] } },
    },
    progress: ['begins', 'in_progress', 'searching', 'completed'],
  },
  'file search': {
    item: FOUND,
    call: {
      name: 'docs.search',
      input: { queries: ['refunds'] },
      outcome: { output: { results: FOUND.results } },
    },
    progress: ['begins', 'in_progress', 'searching', 'completed'],
  },
  'the code interpreter': {
    item: COMPUTED,
    call: {
      name: 'python',
      input: { code: 'print(1+1)', containerId: 'cntr_1' },
      outcome: { output: { outputs: COMPUTED.outputs } },
    },
    progress: ['begins', 'in_progress', 'writing_code: print(1+1)', 'interpreting', 'completed'],
  },
  'image generation': {
    item: PICTURE,
    call: {
      name: 'draw',
      outcome: { output: { image: { blob: { bytes: 60_000 }, mediaType: 'image/png' } } },
    },
    progress: ['begins', 'in_progress', 'generating', 'completed'],
  },
  'a hosted MCP server': {
    item: LOOKED_UP,
    call: {
      name: 'wiki',
      input: { server: 'dw', tool: 'ask', arguments: { q: 'x' } },
      outcome: { output: { output: 'It is so.' } },
    },
    progress: ['begins', 'in_progress', 'arguments: {"q":"x"}', 'completed'],
  },
};

describe('the stream of the fake in these tests', () => {
  const everything: Items = [LISTED, ...Object.values(ROWS).map(({ item }) => item), ASKED, CITED];

  it("is read by the provider's own client, streamed and not", async () => {
    const events = eventsOf(everything);
    const server = await startWireServer(({ body }) =>
      body['stream'] === true ? { events } : { status: 200, body: wholeResponse(events) },
    );
    onTestFinished(() => server.close());
    const { responses } = new OpenAI({ baseURL: server.url, apiKey: 'any', maxRetries: 0 });
    const asked = { model: 'm-1', input: 'Do it' };
    expect((await responses.create(asked)).output).toEqual(everything);
    const stream = responses.stream(asked);
    const seen: string[] = [];
    // The client builds the answer of the pieces, and refuses those that do not belong together.
    for await (const { type } of stream) seen.push(type);
    expect(seen).toEqual(events.map(({ type }) => type));
    expect((await stream.finalResponse()).output).toMatchObject(everything);
  });
});

describe('a tool of OpenAI', () => {
  it.each(Object.entries(ROWS))(
    '%s is shown while it runs and with its result, and its item goes back as it came',
    promise('G95', 'N22'),
    async (_what, { item, call, progress }) => {
      const files = new Files();
      const { response, events } = await answered([item, DONE], files);
      expect(response.providerCalls).toMatchObject([{ id: item.id, ...call }]);
      expect(response.calls).toEqual([]);
      const name = response.providerCalls?.[0]?.name ?? '';
      expect(progressOf(events)).toEqual(progress.map((step) => `${name} ${step}`));
      expect(await sentAgain(transcript(response), files)).toEqual([item, DONE]);
    },
  );

  it.each(Object.entries(ROWS))(
    '%s is the same where the answer is not streamed',
    promise('G95'),
    async (_what, { item, call }) => {
      const files = new Files();
      const { response } = await lookedAt([item, DONE], files);
      expect(response.providerCalls).toMatchObject([{ id: item.id, ...call }]);
      expect(response).toEqual((await answered([item, DONE], files)).response);
      expect(await sentAgain(transcript(response), files)).toEqual([item, DONE]);
    },
  );

  it('has the files that a text cites kept with it, and given back', async () => {
    const { response } = await answered([FOUND, COMPUTED, CITED]);
    expect(response.parts.at(-1)).toMatchObject({
      type: 'text',
      sources: [
        { type: 'file', fileId: 'file_1', filename: 'terms.pdf', startIndex: 14 },
        { type: 'file', fileId: 'cfile_1', containerId: 'cntr_1', startIndex: 0, endIndex: 6 },
      ],
    });
    expect(await sentAgain(transcript(response))).toEqual([FOUND, COMPUTED, CITED]);
  });

  it('that failed is shown with the reason', async () => {
    const failed = {
      type: 'mcp_call' as const,
      id: 'mcp_1',
      server_label: 'gh',
      name: 'merge',
      arguments: '{}',
      error: { type: 'http_error' as const, code: 502, message: 'Bad gateway' },
    };
    const { response } = await answered([
      failed,
      { ...SEARCHED, action: { type: 'search' }, status: 'failed' },
      DONE,
    ]);
    expect(response.providerCalls).toMatchObject([
      { name: 'github', outcome: { error: 'Bad gateway' } },
      { name: 'web.search', outcome: { error: 'The provider reports that it failed' } },
    ]);
  });

  it('is offered by the Responses API, unless the caller would have to run it, and by Chat Completions never', () => {
    const problem = (api: 'chat' | 'responses', type: string): string | undefined =>
      openaiModel('gpt-5', { api }).providerToolProblem?.({ type });
    for (const type of ['web_search', 'file_search', 'code_interpreter', 'image_generation', 'mcp'])
      expect(problem('responses', type)).toBeUndefined();
    for (const type of ['computer_use_preview', 'local_shell', 'apply_patch', 'function'])
      expect(problem('responses', type)).toContain(type);
    expect(problem('chat', 'web_search')).toContain('Chat Completions');
  });
});

describe('a picture that the model made', () => {
  it('is stored beside the transcript', promise('G97'), async () => {
    const files = new Files();
    const { response } = await answered([PICTURE, DONE], files);
    expect(JSON.stringify(response).length).toBeLessThan(2_000);
    expect([...files.stored.values()].map((bytes) => PICTURE_BYTES.equals(bytes))).toEqual([true]);
  });

  it('is not kept where there is no store for it, nor sent when it is gone', {
    ...promise('G97'),
  }, async () => {
    const unstored = await answered([PICTURE, DONE]);
    expect(JSON.stringify(unstored.response).length).toBeLessThan(2_000);
    expect(await sentAgain(transcript(unstored.response))).toEqual([DONE]);
    const { response } = await answered([PICTURE, DONE], new Files());
    expect(await sentAgain(transcript(response), new Files())).toEqual([DONE]);
  });
});

describe.each([
  ['streamed', answered],
  ['not streamed', lookedAt],
] as const)('a call of a hosted MCP server that needs approval, %s', (_how, ask) => {
  it('becomes a call of the engine, and none of the provider', async () => {
    const { response } = await ask([LISTED, ASKED]);
    expect(response.providerCalls).toBeUndefined();
    expect(response.finishReason).toBe('tool_calls');
    expect(response.calls).toEqual([
      {
        id: 'mcpr_1',
        name: 'github',
        argumentsJson: '{"server":"gh","tool":"merge","arguments":{"pr":7}}',
        hosted: true,
      },
    ]);
  });

  it('is answered with the decision, and the reason of a denial', promise('G96'), async () => {
    const { response } = await ask([LISTED, ASKED, { ...ASKED, id: 'mcpr_2' }]);
    const denied: ToolResultEnvelope = {
      ok: false,
      error: { code: 'denied', message: 'Not on a Friday' },
    };
    expect(await sentAgain(transcript(response, { mcpr_2: denied }))).toEqual([
      LISTED,
      ASKED,
      { ...ASKED, id: 'mcpr_2' },
      {
        type: 'mcp_approval_response',
        approval_request_id: 'mcpr_1',
        approve: true,
      } satisfies OpenAI.Responses.ResponseInputItem,
      {
        type: 'mcp_approval_response',
        approval_request_id: 'mcpr_2',
        approve: false,
        reason: 'Not on a Friday',
      } satisfies OpenAI.Responses.ResponseInputItem,
    ]);
  });
});

/** Tools that OpenAI runs inside the model call. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { loadFiles } from '../../../src/model/files.js';
import { openaiModel } from '../../../src/model/openai.js';
import { ResponsesAnswer } from '../../../src/model/openai-response-events.js';
import { toResponsesRequest } from '../../../src/model/openai-responses.js';
import type { BlobRef } from '../../../src/protocol/blobs.js';
import type { Message } from '../../../src/protocol/messages.js';
import type {
  ModelFiles,
  ModelResponse,
  ModelStreamEvent,
  ModelTool,
} from '../../../src/protocol/model.js';
import type { ToolResultEnvelope } from '../../../src/protocol/tools.js';
import { eventsOf, message } from '../../support/wire-events.js';

type Items = Parameters<typeof eventsOf>[0];

const TOOLS: readonly ModelTool[] = [
  { name: 'web.search', provider: { type: 'web_search_preview' } },
  { name: 'docs.search', provider: { type: 'file_search', vector_store_ids: ['vs_1'] } },
  { name: 'python', provider: { type: 'code_interpreter', container: { type: 'auto' } } },
  { name: 'draw', provider: { type: 'image_generation' } },
  { name: 'github', provider: { type: 'mcp', server_label: 'gh' } },
  { name: 'wiki', provider: { type: 'mcp', server_label: 'dw' } },
];
const DONE = message('msg_1', [{ type: 'output_text', text: 'Done.', annotations: [] }]);

class Files implements ModelFiles {
  readonly stored = new Map<string, Uint8Array>();

  read({ id }: BlobRef): Promise<Uint8Array | undefined> {
    return Promise.resolve(this.stored.get(id));
  }

  write(content: Uint8Array): Promise<BlobRef> {
    const id = createHash('sha256').update(content).digest('hex');
    this.stored.set(id, content);
    return Promise.resolve({ id, bytes: content.length, type: 'application/octet-stream' });
  }
}

async function answered(
  items: Items,
  files?: ModelFiles,
): Promise<{ readonly response: ModelResponse; readonly events: readonly ModelStreamEvent[] }> {
  const events: ModelStreamEvent[] = [];
  const answer = new ResponsesAnswer(TOOLS, { onEvent: (event) => events.push(event) });
  for (const event of eventsOf(items)) answer.add(event);
  return { response: await answer.finish('m-1', files), events };
}

function transcript(
  response: ModelResponse,
  envelopes: Readonly<Record<string, ToolResultEnvelope>> = {},
): readonly Message[] {
  const at = { turnId: 't1', step: 1 };
  const calls = response.calls.map(({ id, name, argumentsJson }) => ({
    type: 'tool_call' as const,
    toolCallId: id,
    name,
    argumentsJson,
  }));
  const parts = calls.map(({ toolCallId, name }) => ({
    type: 'tool_result' as const,
    toolCallId,
    name,
    envelope: envelopes[toolCallId] ?? { ok: true as const, result: null },
  }));
  return [
    { role: 'assistant', id: 'a', ...at, parts: [...response.parts, ...calls] },
    ...(parts.length === 0 ? [] : [{ role: 'tool' as const, id: 'r', ...at, parts }]),
  ];
}

async function sentAgain(messages: readonly Message[], files?: ModelFiles): Promise<unknown> {
  const loaded = await loadFiles(messages, files);
  return toResponsesRequest({ system: '', messages, tools: TOOLS }, { model: 'm-1' }, loaded).input;
}

function progressOf(events: readonly ModelStreamEvent[]): readonly string[] {
  return events.flatMap((event) => {
    if (event.type === 'provider_call') return [`${event.name} begins`];
    if (event.type !== 'provider_call_progress') return [];
    return [`${event.name} ${event.status}${event.text === undefined ? '' : `: ${event.text}`}`];
  });
}

const SEARCHED = {
  type: 'web_search_call',
  id: 'ws_1',
  status: 'completed',
  action: {
    type: 'search',
    queries: ['rain berlin'],
    sources: [{ type: 'url', url: 'https://example.com' }],
  },
} as const;

describe('a tool of OpenAI', () => {
  it.each([
    [
      'web search',
      {
        ...SEARCHED,
        action: {
          ...SEARCHED.action,
          queries: ['rain berlin'],
          sources: [{ type: 'url' as const, url: 'https://example.com' }],
        },
      },
      {
        name: 'web.search',
        input: { type: 'search', queries: ['rain berlin'] },
        outcome: { output: { sources: [{ type: 'url', url: 'https://example.com' }] } },
      },
      [
        'web.search begins',
        'web.search in_progress',
        'web.search searching',
        'web.search completed',
      ],
    ],
    [
      'file search',
      {
        type: 'file_search_call' as const,
        id: 'fs_1',
        status: 'completed' as const,
        queries: ['refunds'],
        results: [{ file_id: 'file_1', filename: 'terms.pdf', score: 0.9, text: 'Within 14 days' }],
      },
      { name: 'docs.search', input: { queries: ['refunds'] } },
      [
        'docs.search begins',
        'docs.search in_progress',
        'docs.search searching',
        'docs.search completed',
      ],
    ],
    [
      'the code interpreter',
      {
        type: 'code_interpreter_call' as const,
        id: 'ci_1',
        status: 'completed' as const,
        container_id: 'cntr_1',
        code: 'print(1+1)',
        outputs: [{ type: 'logs' as const, logs: '2' }],
      },
      {
        name: 'python',
        input: { code: 'print(1+1)', containerId: 'cntr_1' },
        outcome: { output: { outputs: [{ type: 'logs', logs: '2' }] } },
      },
      [
        'python begins',
        'python in_progress',
        'python writing_code: print(1+1)',
        'python interpreting',
        'python completed',
      ],
    ],
    [
      'a hosted MCP server',
      {
        type: 'mcp_call' as const,
        id: 'mcp_1',
        server_label: 'dw',
        name: 'ask',
        arguments: '{"q":"x"}',
        output: 'It is so.',
        status: 'completed' as const,
      },
      {
        name: 'wiki',
        input: { server: 'dw', tool: 'ask', arguments: { q: 'x' } },
        outcome: { output: { output: 'It is so.' } },
      },
      ['wiki begins', 'wiki in_progress', 'wiki arguments: {"q":"x"}', 'wiki completed'],
    ],
  ])(
    '%s is shown while it runs and with what it brought, and its item goes back as it came',
    async (_what, item, call, progress) => {
      const { response, events } = await answered([item, DONE]);
      expect(response.providerCalls).toMatchObject([{ id: item.id, ...call }]);
      expect(response.calls).toEqual([]);
      expect(progressOf(events)).toEqual(progress);
      expect(await sentAgain(transcript(response))).toEqual([item, DONE]);
    },
  );

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
      { name: 'web.search', outcome: { error: 'The provider says that it failed' } },
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
  const base64 = Buffer.alloc(60_000, 7).toString('base64');
  const picture = {
    type: 'image_generation_call' as const,
    id: 'ig_1',
    status: 'completed' as const,
    result: base64,
    output_format: 'png' as const,
  };

  it('is stored beside the transcript, and goes back whole', async () => {
    const files = new Files();
    const { response, events } = await answered([picture, DONE], files);
    expect(JSON.stringify(response).length).toBeLessThan(2_000);
    expect(response.providerCalls).toMatchObject([
      {
        name: 'draw',
        outcome: { output: { image: { blob: { bytes: 60_000 }, mediaType: 'image/png' } } },
      },
    ]);
    expect(progressOf(events)).toEqual([
      ...['draw begins', 'draw in_progress', 'draw generating', 'draw completed'],
    ]);
    expect(await sentAgain(transcript(response), files)).toEqual([picture, DONE]);
  });

  it('is not kept where there is no store for it, nor sent when it is gone', async () => {
    const unstored = await answered([picture, DONE]);
    expect(JSON.stringify(unstored.response).length).toBeLessThan(2_000);
    expect(await sentAgain(transcript(unstored.response))).toEqual([DONE]);
    const files = new Files();
    const { response } = await answered([picture, DONE], files);
    expect(await sentAgain(transcript(response), new Files())).toEqual([DONE]);
  });
});

describe('a call of a hosted MCP server that needs approval', () => {
  const listed = {
    type: 'mcp_list_tools' as const,
    id: 'mcpl_1',
    server_label: 'gh',
    tools: [{ name: 'merge', input_schema: { type: 'object' } }],
  };
  const asked = {
    type: 'mcp_approval_request' as const,
    id: 'mcpr_1',
    server_label: 'gh',
    name: 'merge',
    arguments: '{"pr":7}',
  };

  it('is asked of us, and of nobody else', async () => {
    const { response } = await answered([listed, asked]);
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

  it('is answered with the decision, and the reason of a denial', async () => {
    const { response } = await answered([listed, asked, { ...asked, id: 'mcpr_2' }]);
    const denied: ToolResultEnvelope = {
      ok: false,
      error: { code: 'denied', message: 'Not on a Friday' },
    };
    expect(await sentAgain(transcript(response, { mcpr_2: denied }))).toEqual([
      listed,
      asked,
      { ...asked, id: 'mcpr_2' },
      { type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: true },
      {
        type: 'mcp_approval_response',
        approval_request_id: 'mcpr_2',
        approve: false,
        reason: 'Not on a Friday',
      },
    ]);
  });
});

/**
 * Tools that a model's provider runs, over real connections: the engine's answer, and the part of it that goes back.
 */
import { createHash } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { openaiModel } from '../../../src/model/openai/adapter.js';
import type { ToolResultEnvelope } from '../../../src/protocol/calls/results.js';
import type { Message } from '../../../src/protocol/conversation/messages.js';
import type {
  ModelFiles,
  ModelResponse,
  ModelStreamEvent,
  ModelTool,
} from '../../../src/protocol/model/model.js';
import type { BlobRef } from '../../../src/protocol/values/blobs.js';
import { startWireServer } from '../networks/wire-server.js';
import { eventsOf, message } from '../samples/wire-events.js';
import { startBackgroundServer } from './background-server.js';

export type Items = Parameters<typeof eventsOf>[0];

export const TOOLS: readonly ModelTool[] = [
  { name: 'web.search', provider: { type: 'web_search_preview' } },
  { name: 'docs.search', provider: { type: 'file_search', vector_store_ids: ['vs_1'] } },
  { name: 'python', provider: { type: 'code_interpreter', container: { type: 'auto' } } },
  { name: 'draw', provider: { type: 'image_generation' } },
  { name: 'github', provider: { type: 'mcp', server_label: 'gh' } },
  { name: 'wiki', provider: { type: 'mcp', server_label: 'dw' } },
];
export const DONE = message('msg_1', [{ type: 'output_text', text: 'Done.', annotations: [] }]);

const ASKED: Message = {
  role: 'user',
  id: 'u',
  turnId: 't1',
  parts: [{ type: 'text', text: 'Do it' }],
};
const OPTIONS = { api: 'responses', apiKey: 'sk-test-0123456789' } as const;

export class Files implements ModelFiles {
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

export interface Answered {
  readonly response: ModelResponse;
  readonly events: readonly ModelStreamEvent[];
}

/** The answer that streams these items. */
export async function answered(items: Items, files?: ModelFiles): Promise<Answered> {
  const server = await startWireServer(() => ({ events: eventsOf(items) }));
  onTestFinished(() => server.close());
  return await generated(openaiModel('m-1', { ...OPTIONS, baseURL: server.url }), files);
}

/** The same without streaming: the finished response is read. */
export async function lookedAt(items: Items, files?: ModelFiles): Promise<Answered> {
  const server = await startBackgroundServer({
    items: () => items,
    cuts: [1],
    streamsAgain: false,
  });
  onTestFinished(() => server.close());
  const options = { ...OPTIONS, baseURL: server.url, background: true, pollMs: 5 };
  return await generated(openaiModel('m-1', options), files);
}

async function generated(
  model: ReturnType<typeof openaiModel>,
  files: ModelFiles | undefined,
): Promise<Answered> {
  const events: ModelStreamEvent[] = [];
  const response = await model.generate(
    { system: '', messages: [ASKED], tools: TOOLS },
    {
      signal: new AbortController().signal,
      onEvent: (event) => events.push(event),
      ...(files === undefined ? {} : { files }),
    },
  );
  return { response, events };
}

/** The messages that the engine makes of an answer. `envelopes`: results of its calls, by their ids. */
export function transcript(
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

/** The part of an answer that the provider gets in the next request. */
export async function sentAgain(
  messages: readonly Message[],
  files?: ModelFiles,
): Promise<unknown> {
  const server = await startWireServer(() => ({ events: eventsOf([DONE]) }));
  onTestFinished(() => server.close());
  await openaiModel('m-1', { ...OPTIONS, baseURL: server.url }).generate(
    { system: '', messages, tools: TOOLS },
    {
      signal: new AbortController().signal,
      onEvent: () => undefined,
      ...(files === undefined ? {} : { files }),
    },
  );
  return server.requests[0]?.body['input'];
}

/** The live events of the calls, one line each. */
export function progressOf(events: readonly ModelStreamEvent[]): readonly string[] {
  return events.flatMap((event) => {
    if (event.type === 'provider_call') return [`${event.name} begins`];
    if (event.type !== 'provider_call_progress') return [];
    return [`${event.name} ${event.status}${event.text === undefined ? '' : `: ${event.text}`}`];
  });
}

/**
 * A model server in a process of its own: streams a number of tokens at a given pace, the first with the time at which
 * it was sent.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** The order in a user's message, as JSON. */
export interface Asked {
  readonly tokens: number;
  /** Pause between two tokens; 0 = as fast as they are read. */
  readonly paceMs: number;
}

/** Milliseconds of the epoch, with fractions; the clocks of processes on one machine agree. */
export function nowMs(): number {
  return performance.timeOrigin + performance.now();
}

/** The time stamp in a text, or undefined. */
export function stampIn(text: string): number | undefined {
  const stamp = /@([\d.]+)@/.exec(text)?.[1];
  return stamp === undefined ? undefined : Number(stamp);
}

interface Said {
  readonly role: string;
  readonly content: string;
}

/** Chat Completions have `messages`, Responses `input`. */
function askedOf(body: string): Asked {
  const { messages, input } = JSON.parse(body) as {
    readonly messages?: readonly Said[];
    readonly input?: readonly Said[];
  };
  const said = messages ?? input ?? [];
  return JSON.parse(said.findLast(({ role }) => role === 'user')?.content ?? '{}') as Asked;
}

/** The events before the text, one piece of it, and the events after it. */
interface Dialect {
  readonly head: readonly object[];
  readonly piece: (text: string) => object;
  readonly tail: (text: string, tokens: number) => readonly object[];
}

const CHUNK = { id: 'c', object: 'chat.completion.chunk', created: 0, model: 'stamped' };
const CHAT: Dialect = {
  head: [],
  piece: (content) => ({
    ...CHUNK,
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
  }),
  tail: (_text, tokens) => [
    { ...CHUNK, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    {
      ...CHUNK,
      choices: [],
      usage: { prompt_tokens: 1, completion_tokens: tokens, total_tokens: tokens + 1 },
    },
  ],
};

const RESPONSE = { id: 'r', object: 'response', created_at: 0, model: 'stamped' };
const AT = { item_id: 'm', output_index: 0, content_index: 0 };
const MESSAGE = { type: 'message', id: 'm', role: 'assistant' };
const RESPONSES: Dialect = {
  head: [
    { type: 'response.created', response: { ...RESPONSE, status: 'in_progress', output: [] } },
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { ...MESSAGE, status: 'in_progress', content: [] },
    },
  ],
  piece: (delta) => ({ type: 'response.output_text.delta', ...AT, delta, logprobs: [] }),
  tail: (text, tokens) => {
    const content = [{ type: 'output_text', text, annotations: [] }];
    const item = { ...MESSAGE, status: 'completed', content };
    const usage = { input_tokens: 1, output_tokens: tokens, total_tokens: tokens + 1 };
    return [
      { type: 'response.output_text.done', ...AT, text, logprobs: [] },
      { type: 'response.output_item.done', output_index: 0, item },
      {
        type: 'response.completed',
        response: { ...RESPONSE, status: 'completed', output: [item], usage },
      },
    ];
  },
};

async function stream(
  response: ServerResponse,
  { head, piece, tail }: Dialect,
  { tokens, paceMs }: Asked,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
  // Gives the reader time to wait for the first token.
  await sleep(20);
  const send = (data: object): boolean => response.write(`data: ${JSON.stringify(data)}\n\n`);
  for (const data of head) send(data);
  let whole = '';
  for (let token = 0; token < tokens; token += 1) {
    const text = token === 0 ? `@${nowMs()}@` : ' token';
    whole += text;
    const isRead = send(piece(text));
    if (paceMs > 0) await sleep(paceMs);
    else if (!isRead) await new Promise((resolve) => response.once('drain', resolve));
  }
  for (const data of tail(whole, tokens)) send(data);
  response.end('data: [DONE]\n\n');
}

if (process.send !== undefined) {
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      const dialect = request.url?.endsWith('/responses') === true ? RESPONSES : CHAT;
      void stream(response, dialect, askedOf(body));
    });
  });
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    process.send?.(`http://127.0.0.1:${port}/v1`);
  });
  process.once('disconnect', () => {
    server.closeAllConnections();
    server.close();
  });
}

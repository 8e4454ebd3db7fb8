/** A model server in a process of its own: streams so many tokens at such a pace, the first with the time at which it was sent. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What a user's message asks for, as JSON. */
export interface Asked {
  readonly tokens: number;
  /** Between two tokens; 0 = as fast as they are read. */
  readonly paceMs: number;
}

/** Milliseconds of the epoch, with fractions; the clocks of the processes of one machine agree. */
export function nowMs(): number {
  return performance.timeOrigin + performance.now();
}

/** The stamp in a text, or undefined. */
export function stampIn(text: string): number | undefined {
  const stamp = /@([\d.]+)@/.exec(text)?.[1];
  return stamp === undefined ? undefined : Number(stamp);
}

function askedOf(body: string): Asked {
  const { messages } = JSON.parse(body) as {
    readonly messages: readonly { readonly role: string; readonly content: string }[];
  };
  return JSON.parse(messages.findLast(({ role }) => role === 'user')?.content ?? '{}') as Asked;
}

async function stream(response: ServerResponse, { tokens, paceMs }: Asked): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
  // Whoever reads has to be waiting when the first token comes.
  await sleep(20);
  const base = { id: 'c', object: 'chat.completion.chunk', created: 0, model: 'stamped' };
  const send = (chunk: object): boolean =>
    response.write(`data: ${JSON.stringify({ ...base, ...chunk })}\n\n`);
  for (let token = 0; token < tokens; token += 1) {
    const content = token === 0 ? `@${nowMs()}@` : ' token';
    const isRead = send({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
    if (paceMs > 0) await sleep(paceMs);
    else if (!isRead) await new Promise((resolve) => response.once('drain', resolve));
  }
  send({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
  const usage = { prompt_tokens: 1, completion_tokens: tokens, total_tokens: tokens + 1 };
  send({ choices: [], usage });
  response.end('data: [DONE]\n\n');
}

if (process.send !== undefined) {
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => void stream(response, askedOf(body)));
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

/**
 * Bounds responses of an MCP server over HTTP while they are read: the client would read until the memory is full. A
 * response that is too large is replaced by an error for its request, so that the caller neither waits nor retries.
 * Runs in the worker.
 */
import type { FetchLike } from '@modelcontextprotocol/client';
import { MAX_MCP_MESSAGE_BYTES } from '../../../define/mcp/limits.js';
import { MAX_HTTP_ERROR_BYTES } from '../../../protocol/limits/service-limits.js';
import { isRecord } from '../../../protocol/values/json.js';
import { readBody } from '../../shared/bounded-body.js';

/**
 * Code of the error that replaces a response that was too large; in the range that JSON-RPC leaves to implementations.
 */
const ANSWER_TOO_LARGE = -32_098;

/** `maxBytes`: of one response, or of one event of a stream; a stream may have any number of events. */
export function boundedFetch(send: FetchLike, maxBytes = MAX_MCP_MESSAGE_BYTES): FetchLike {
  return async (url, init) => {
    const response = await send(url, init);
    if (response.body === null) return response;
    const refusal = (): string | undefined => errorFor(init?.body, maxBytes);
    if (response.ok && isEventStream(response))
      return again(response, response.body.pipeThrough(boundedEvents(maxBytes, refusal)));
    const limit = response.ok ? maxBytes : Math.min(maxBytes, MAX_HTTP_ERROR_BYTES);
    const { bytes, whole } = await readBody(response.body, limit);
    if (whole || !response.ok) return again(response, bytes);
    const type = { 'content-type': 'application/json' };
    return new Response(refusal() ?? '', { status: response.status, headers: type });
  };
}

type Body = NonNullable<ConstructorParameters<typeof Response>[0]>;

function again({ status, statusText, headers }: Response, body: Body): Response {
  return new Response(body, { status, statusText, headers });
}

function isEventStream({ headers }: Response): boolean {
  return /^\s*text\/event-stream\s*(?:;|$)/i.test(headers.get('content-type') ?? '');
}

/** The error response to the request in a body; undefined when the body expects no response. */
function errorFor(body: unknown, maxBytes: number): string | undefined {
  const request: unknown = typeof body === 'string' ? JSON.parse(body) : undefined;
  if (!isRecord(request) || request['id'] === undefined) return undefined;
  const message = `its answer has more than ${maxBytes} bytes and was not read`;
  return JSON.stringify({
    jsonrpc: '2.0',
    id: request['id'],
    error: { code: ANSWER_TOO_LARGE, message },
  });
}

/** Sequences that end an event: a blank line. */
const BLANK_LINES = ['\n\n', '\r\r', '\n\r'];

/**
 * Passes events on. An event that is too large is cut off, and the stream ends: with the error response if there is
 * one, else with an error.
 */
function boundedEvents(
  maxBytes: number,
  refusal: () => string | undefined,
): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let size = 0;
  let last = '';
  return new TransformStream({
    transform(chunk, controller) {
      const text =
        last + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1');
      const blank = Math.max(...BLANK_LINES.map((ends) => text.lastIndexOf(ends)));
      size = blank === -1 ? size + chunk.length : text.length - blank - 2;
      last = text.slice(-1);
      if (size <= maxBytes) {
        controller.enqueue(chunk);
        return;
      }
      const answer = refusal();
      if (answer === undefined)
        controller.error(new Error(`an event has more than ${maxBytes} bytes`));
      else {
        controller.enqueue(Buffer.from(`\n\ndata: ${answer}\n\n`));
        controller.terminate();
      }
    },
  });
}

/**
 * Tells the client of answers that will not come, and hangs up on those that nobody waits for any more. Over HTTP an answer comes on a
 * stream of its request; where that ends without it, the transport says so to whoever sent the request, and the client's own requests
 * do not listen: they would wait for ever. Runs in the worker.
 */
import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client';
import { MCP_NOTE_TIMEOUT_MS } from '../../../define/mcp/limits.js';

/** Of the error that such a request ends with; in the range that JSON-RPC leaves to implementations. */
export const STREAM_LOST = -32_099;

type Id = string | number;

/** Watches a transport, from before the client connects with it. */
export class LostStreams {
  readonly #transport: Transport;
  /** What hangs up on the answer of each request that is still waited for. */
  readonly #waiting = new Map<Id, AbortController>();

  constructor(transport: Transport) {
    this.#transport = transport;
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
      const id = requestIdOf(message);
      if (id === undefined) return this.#note(message, () => send(message, noted(options)));
      // Whoever watches already hangs up, too.
      const isWatched = options?.onRequestStreamEnd !== undefined;
      return send(message, isWatched ? options : { ...options, ...this.#watched(id, options) });
    };
  }

  /** To be called when the client has connected: from here on, it is known which answers have come. */
  watch(): void {
    const deliver = this.#transport.onmessage;
    this.#waiting.clear();
    this.#transport.onmessage = (message, extra) => {
      if ('id' in message && message.id !== undefined && !('method' in message))
        this.#waiting.delete(message.id);
      deliver?.(message, extra);
    };
  }

  #watched(id: Id, given: TransportSendOptions | undefined): TransportSendOptions {
    const hangUp = new AbortController();
    this.#waiting.set(id, hangUp);
    // To servers of the current protocol, hanging up is what tells them that a request is given up: the client does that itself.
    const own = given?.requestSignal;
    own?.addEventListener('abort', () => this.#waiting.delete(id), { once: true });
    return {
      requestSignal: own ?? hangUp.signal,
      onRequestStreamEnd: () => {
        this.#lost(id);
      },
    };
  }

  #lost(id: Id): void {
    if (!this.#waiting.delete(id)) return;
    const error = { code: STREAM_LOST, message: 'the connection ended before the answer came' };
    this.#transport.onmessage?.({ jsonrpc: '2.0', id, error });
  }

  /** An old server is told that a request is given up; if it goes on answering all the same, nobody reads it. */
  async #note(message: JSONRPCMessage, send: () => Promise<void>): Promise<void> {
    const id = cancelledIdOf(message);
    try {
      await send();
    } finally {
      if (id !== undefined) this.#waiting.get(id)?.abort();
      if (id !== undefined) this.#waiting.delete(id);
    }
  }
}

/** Nobody waits for what becomes of a message that has no answer, so nobody else would hang up. */
function noted(options: TransportSendOptions | undefined): TransportSendOptions {
  return { ...options, requestSignal: AbortSignal.timeout(MCP_NOTE_TIMEOUT_MS) };
}

function requestIdOf(message: JSONRPCMessage): Id | undefined {
  return 'method' in message && 'id' in message ? message.id : undefined;
}

function cancelledIdOf(message: JSONRPCMessage): Id | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined;
  const id = message.params?.['requestId'];
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}

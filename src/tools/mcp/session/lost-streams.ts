/**
 * Notifies the client of responses that will not come, and closes streams that are no longer awaited. Over HTTP a
 * response comes on a stream of its request; if the stream ends without it, the transport notifies the sender of the
 * request, but the client's own requests do not listen and would wait forever. Runs in the worker.
 */
import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client';
import { MCP_NOTE_TIMEOUT_MS } from '../../../define/mcp/limits.js';

/** Code of the error that such a request ends with; in the range that JSON-RPC leaves to implementations. */
export const STREAM_LOST = -32_099;

type Id = string | number;

/** Watches a transport, from before the client connects with it. */
export class LostStreams {
  readonly #transport: Transport;
  /** Closes the stream of each request that is still awaited. */
  readonly #waiting = new Map<Id, AbortController>();

  constructor(transport: Transport) {
    this.#transport = transport;
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
      const id = requestIdOf(message);
      if (id === undefined) return this.#note(message, () => send(message, noted(options)));
      // A sender that watches the stream already closes it, too.
      const isWatched = options?.onRequestStreamEnd !== undefined;
      return send(message, isWatched ? options : { ...options, ...this.#watched(id, options) });
    };
  }

  /** Called when the client has connected: from here on, arrived responses are known. */
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
    // For servers of the current protocol, closing the stream cancels the request: the client does that itself.
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

  /** Sends the cancellation to an old server; if it responds nevertheless, the response is not read. */
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

/** The stream of a message without a response is not awaited, so nothing else would close it. */
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

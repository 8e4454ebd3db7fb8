/**
 * Tells the client of answers that will not come. Over HTTP an answer comes on a stream of its request; where that ends without it,
 * the transport says so to whoever sent the request, and the client's own requests do not listen: they would wait for ever. Runs in
 * the worker.
 */
import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client';

/** Of the error that such a request ends with; in the range that JSON-RPC leaves to implementations. */
export const STREAM_LOST = -32_099;

type Id = string | number;

/** Watches a transport, from before the client connects with it. */
export class LostStreams {
  readonly #transport: Transport;
  readonly #waiting = new Set<Id>();

  constructor(transport: Transport) {
    this.#transport = transport;
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
      const id = requestIdOf(message, options);
      if (id === undefined) return send(message, options);
      this.#waiting.add(id);
      return send(message, {
        ...options,
        onRequestStreamEnd: () => {
          this.#lost(id);
        },
      });
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

  #lost(id: Id): void {
    if (!this.#waiting.delete(id)) return;
    const error = { code: STREAM_LOST, message: 'the connection ended before the answer came' };
    this.#transport.onmessage?.({ jsonrpc: '2.0', id, error });
  }
}

/** Of requests that nobody watches already. */
function requestIdOf(message: JSONRPCMessage, options?: TransportSendOptions): Id | undefined {
  if (!('method' in message && 'id' in message)) return undefined;
  return options?.onRequestStreamEnd === undefined ? message.id : undefined;
}

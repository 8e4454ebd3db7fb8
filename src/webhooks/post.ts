/** Sends one event to one URL. */
import type { Dispatcher } from 'undici';
import { fetch } from 'undici';
import {
  type AddressPolicy,
  type AllowPrivate,
  addressPolicyOf,
} from '../net/guarded/addresses.js';
import { assertHostAllowed, createDispatcher } from '../net/guarded/connections.js';

/** Bytes of a response that are read, and dropped, so that its connection can be used again. */
const MAX_RESPONSE_BYTES = 8 * 1024;
const MAX_RESPONSE_MS = 1_000;

export interface Posted {
  readonly status: number;
  readonly retryAfter?: string;
}

export interface PostRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Ends the request. */
  readonly signal: AbortSignal;
}

export type Post = (url: string, request: PostRequest) => Promise<Posted>;

/**
 * Follows no redirect, and reaches private addresses only if they are allowed. Metadata services and other special
 * addresses are never reached: callers of the API choose the URLs.
 */
export class Poster {
  readonly #policy: AddressPolicy;
  readonly #dispatcher: Dispatcher;

  constructor(allowPrivate: AllowPrivate) {
    this.#policy = { ...addressPolicyOf(allowPrivate), neverSpecial: true };
    this.#dispatcher = createDispatcher({ policy: this.#policy, proxy: undefined, reuse: true });
  }

  /** @throws {AddressRefused}, the reason of the signal, or an error of the connection */
  readonly post: Post = async (url, { headers, body, signal }) => {
    assertHostAllowed(new URL(url).hostname, this.#policy);
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers },
      body,
      redirect: 'manual',
      signal,
      dispatcher: this.#dispatcher,
    });
    const retryAfter = response.headers.get('retry-after');
    await drained(response.body?.getReader());
    return { status: response.status, ...(retryAfter === null ? {} : { retryAfter }) };
  };

  /** Ends requests that still run. */
  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }
}

interface Reader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

/** The status has arrived, and it alone counts: a body that is long or slow is given up. */
async function drained(reader: Reader | undefined): Promise<void> {
  if (reader === undefined) return;
  const timer = setTimeout(() => {
    reader.cancel().catch(() => undefined);
  }, MAX_RESPONSE_MS);
  try {
    for (let bytes = 0; bytes <= MAX_RESPONSE_BYTES; ) {
      const { done, value } = await reader.read();
      if (done) return;
      bytes += value?.length ?? 0;
    }
    await reader.cancel();
  } catch {
    // Nothing more can be read.
  } finally {
    clearTimeout(timer);
  }
}

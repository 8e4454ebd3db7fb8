/** Sends one event to one URL. */
import type { Dispatcher } from 'undici';
import { fetch } from 'undici';
import {
  type AddressPolicy,
  type AllowPrivate,
  addressPolicyOf,
} from '../net/guarded/addresses.js';
import { assertHostAllowed, createDispatcher } from '../net/guarded/connections.js';

const TIMEOUT_MS = 15_000;
/** Bytes of a response that are read, and dropped, so that its connection can be used again. */
const MAX_RESPONSE_BYTES = 8 * 1024;

export interface Posted {
  readonly status: number;
  readonly retryAfter?: string;
}

export type Post = (
  url: string,
  request: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
) => Promise<Posted>;

/** Follows no redirect, and reaches private addresses only if they are allowed. */
export class Poster {
  readonly #policy: AddressPolicy;
  readonly #dispatcher: Dispatcher;

  constructor(allowPrivate: AllowPrivate) {
    this.#policy = addressPolicyOf(allowPrivate);
    this.#dispatcher = createDispatcher({ policy: this.#policy, proxy: undefined, reuse: true });
  }

  /** @throws {AddressRefused}, or an error of the connection or the time-out */
  readonly post: Post = async (url, { headers, body }) => {
    assertHostAllowed(new URL(url).hostname, this.#policy);
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      dispatcher: this.#dispatcher,
    });
    const retryAfter = response.headers.get('retry-after');
    await drained(response.body);
    return { status: response.status, ...(retryAfter === null ? {} : { retryAfter }) };
  };

  async close(): Promise<void> {
    await this.#dispatcher.close();
  }
}

async function drained(body: AsyncIterable<Uint8Array> | null): Promise<void> {
  let bytes = 0;
  try {
    for await (const chunk of body ?? []) {
      bytes += chunk.length;
      // Leaving the loop cancels the response.
      if (bytes > MAX_RESPONSE_BYTES) return;
    }
  } catch {
    // The status has arrived, and it alone counts.
  }
}

/** Requests to the API: address, credentials, repeats. */
import { BackOff, pause } from '../../net/retries.js';
import { isRecord } from '../../protocol/values/json.js';
import { defined } from './defined.js';
import { ApiError, refusal, unreachable } from './problem.js';
import { TIMING, type Timing } from './waiting.js';

export interface ApiOptions {
  /** Address of the API, such as `https://api.example.com`; '' is the origin of the page. */
  readonly baseUrl: string;
  /** A bearer token that is never renewed. */
  readonly token?: string;
  /**
   * Gives the bearer token, at the first request and once more when the API refuses it (401). Where it fails, the
   * request counts as one without an answer: it is tried again later.
   */
  readonly getToken?: () => string | Promise<string>;
  /** `include` sends cookies to another origin. @defaultValue the default of `fetch`: cookies to the own origin */
  readonly credentials?: RequestCredentials;
  readonly headers?: Readonly<Record<string, string>>;
  /** @defaultValue the global one */
  readonly fetch?: typeof fetch;
  /** The tenant of the conversations, for callers that may use several. */
  readonly tenant?: string;
  readonly timing?: Partial<Timing>;
}

export interface Sending {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly body?: object | undefined;
  /** Sent as it is, in place of a body. */
  readonly file?: Blob | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** `tenant: undefined` for routes that belong to no tenant. */
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal | undefined;
  /** The request goes on when its page is left. Browsers allow 64 KiB of bodies at a time. */
  readonly keepalive?: boolean | undefined;
}

/** A client, as far as its parts need it. */
export interface WithApi {
  readonly api: Api;
  /** Who the page acts for, if it says so. */
  readonly me?: { readonly id: string };
}

export class Api {
  readonly timing: Timing;
  readonly #options: ApiOptions;
  #token: Promise<string | undefined> | undefined;

  constructor(options: ApiOptions) {
    this.#options = options;
    this.timing = { ...TIMING, ...options.timing };
  }

  /**
   * One request, with a second try after a 401 that a new token may mend.
   * @throws {ApiError} without an answer, or with a status that is not 2xx
   */
  async request(path: string, sending: Sending = {}): Promise<Response> {
    const response = await this.#answer(path, sending);
    if (response.ok) return response;
    throw refusal(response, await jsonOf(response));
  }

  /** @throws {ApiError} */
  async read<Value>(path: string, sending: Sending = {}): Promise<Value> {
    const response = await this.request(path, sending);
    return (await bodyOf(response)) as Value;
  }

  /**
   * Sends until there is an answer, for at most `giveUpMs`. Safe where the body has a `requestId`, or where a repeat
   * changes nothing. Verdicts are answers, at any status.
   * @throws {ApiError}
   */
  async change<Value>(
    path: string,
    body: object | undefined,
    sending: Pick<Sending, 'method' | 'file' | 'signal' | 'keepalive'> = {},
  ): Promise<Value> {
    const { timing } = this;
    const { signal } = sending;
    const backOff = new BackOff(timing);
    const end = Date.now() + timing.giveUpMs;
    for (;;) {
      try {
        return await this.#changeOnce<Value>(path, { method: 'POST', ...sending, body });
      } catch (error) {
        if (!(error instanceof ApiError) || !error.isPassing || signal?.aborted === true)
          throw error;
        const next = backOff.next(error.retryAfterMs);
        if (Date.now() + next > end) throw error;
        await pause(next, signal ?? new AbortController().signal);
      }
    }
  }

  async #changeOnce<Value>(path: string, sending: Sending): Promise<Value> {
    const response = await this.#answer(path, sending);
    const answer = await bodyOf(response);
    const isVerdict = isRecord(answer) && typeof answer['verdict'] === 'string';
    if (response.ok || isVerdict) return answer as Value;
    throw refusal(response, answer);
  }

  async #answer(path: string, sending: Sending): Promise<Response> {
    const used = this.#currentToken();
    const response = await this.#send(path, sending, await used);
    if (response.status !== 401 || this.#options.getToken === undefined) return response;
    // Several requests may be refused at once; the first of them asks for the new token.
    if (this.#token === used) this.#token = undefined;
    return this.#send(path, sending, await this.#currentToken());
  }

  #currentToken(): Promise<string | undefined> {
    const { token, getToken } = this.#options;
    if (this.#token !== undefined) return this.#token;
    const given = (async () => {
      try {
        return getToken === undefined ? token : await getToken();
      } catch (error) {
        throw unreachable(error);
      }
    })();
    this.#token = given;
    // A token that could not be had is asked for again by the next request.
    given.catch(() => {
      if (this.#token === given) this.#token = undefined;
    });
    return given;
  }

  async #send(path: string, sending: Sending, token: string | undefined): Promise<Response> {
    const { fetch: fetched = globalThis.fetch, credentials, headers } = this.#options;
    const { method = 'GET', body, file, signal, keepalive } = sending;
    const limit = limited(signal, this.timing.silenceMs);
    try {
      return await fetched(this.#address(path, sending.query), {
        method,
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(file === undefined ? {} : { 'content-type': 'application/octet-stream' }),
          ...headers,
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...sending.headers,
        },
        // JSON.stringify(undefined) is undefined.
        ...defined({ body: file ?? JSON.stringify(body), credentials, keepalive }),
        signal: limit.signal,
        cache: 'no-store',
      });
    } catch (error) {
      if (signal?.aborted === true) throw error;
      throw unreachable(error);
    } finally {
      limit.done();
    }
  }

  #address(path: string, query: Sending['query'] = {}): string {
    const { baseUrl, tenant } = this.#options;
    // Twice: the query says which tenant is meant, and comes first in the address.
    const text = new URLSearchParams(defined({ ...query, tenant, ...query })).toString();
    return `${baseUrl.replace(/\/+$/, '')}${path}${text === '' ? '' : `?${text}`}`;
  }
}

/** Aborts with the given signal, and after the time, until it is done: the body of an answer has its own limit. */
function limited(
  given: AbortSignal | undefined,
  ms: number,
): { readonly signal: AbortSignal; readonly done: () => void } {
  const own = new AbortController();
  const abort = (): void => {
    own.abort(given?.reason ?? new Error(`no answer within ${ms} ms`));
  };
  const timer = setTimeout(abort, ms);
  if (given?.aborted === true) abort();
  given?.addEventListener('abort', abort);
  return {
    signal: own.signal,
    done: () => {
      clearTimeout(timer);
      given?.removeEventListener('abort', abort);
    },
  };
}

/** @throws {ApiError} when the answer breaks off */
async function bodyOf(response: Response): Promise<unknown> {
  let text: string;
  try {
    text = await response.text();
  } catch (error) {
    throw unreachable(error);
  }
  try {
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  } catch {
    // A page of a proxy, for instance.
    if (!response.ok) return undefined;
    throw unreachable('the answer is not JSON');
  }
}

async function jsonOf(response: Response): Promise<unknown> {
  return bodyOf(response).catch(() => undefined);
}

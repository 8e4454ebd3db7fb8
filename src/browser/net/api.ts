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
  /** In place of the time of the client. */
  readonly giveUpMs?: number | undefined;
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
   * One request, with a second try after a 401 that a new token may mend. The body is a stream, for which the caller has
   * a time limit of its own.
   * @throws {ApiError} without an answer, or with a status that is not 2xx
   */
  async request(path: string, sending: Sending = {}): Promise<Response> {
    return good(await this.#answer(path, sending, { isStream: true })).response;
  }

  /** The body as text. @throws {ApiError} as `request`, and when the answer breaks off */
  async text(path: string, sending: Sending = {}): Promise<string> {
    return good(await this.#answer(path, sending)).text;
  }

  /** @throws {ApiError} as `text` */
  async read<Value>(path: string, sending: Sending = {}): Promise<Value> {
    return valueOf(good(await this.#answer(path, sending))) as Value;
  }

  /**
   * Sends until there is an answer, for at most `giveUpMs`. Safe where the body has a `requestId`, or where a repeat
   * changes nothing. Verdicts are answers, at any status.
   * @throws {ApiError}
   */
  async change<Value>(
    path: string,
    body: object | undefined,
    sending: Pick<Sending, 'method' | 'file' | 'signal' | 'keepalive' | 'giveUpMs'> = {},
  ): Promise<Value> {
    const { timing } = this;
    const { signal, giveUpMs = timing.giveUpMs } = sending;
    const backOff = new BackOff(timing);
    const end = Date.now() + giveUpMs;
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
    const answer = await this.#answer(path, sending);
    const value = valueOf(answer);
    const isVerdict = isRecord(value) && typeof value['verdict'] === 'string';
    if (answer.response.ok || isVerdict) return value as Value;
    throw refusal(answer.response, value);
  }

  async #answer(path: string, sending: Sending, { isStream = false } = {}): Promise<Answer> {
    const used = this.#currentToken();
    const answer = await this.#send(path, { ...sending, isStream, token: await used });
    if (answer.response.status !== 401 || this.#options.getToken === undefined) return answer;
    // Several requests may be refused at once; the first of them asks for the new token.
    if (this.#token === used) this.#token = undefined;
    return this.#send(path, { ...sending, isStream, token: await this.#currentToken() });
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

  async #send(path: string, sending: Try): Promise<Answer> {
    const { fetch: fetched = globalThis.fetch, credentials, headers } = this.#options;
    const { method = 'GET', body, file, signal, keepalive, token, isStream } = sending;
    // JSON.stringify(undefined) is undefined.
    const sent = file ?? JSON.stringify(body);
    const limit = limited(signal, { ms: this.timing.silenceMs, upMs: upMs(sent) });
    try {
      const response = await fetched(this.#address(path, sending.query), {
        method,
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(file === undefined ? {} : { 'content-type': 'application/octet-stream' }),
          ...headers,
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...sending.headers,
        },
        ...defined({ body: sent, credentials, keepalive }),
        signal: limit.signal,
        cache: 'no-store',
      });
      if (isStream && response.ok) return { response, text: '' };
      const text = textOf(response, limit.heard);
      // A refusal counts by its status, also where its body breaks off.
      return { response, text: await (response.ok ? text : orNothing(text, signal)) };
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

interface Try extends Sending {
  readonly token: string | undefined;
  /** The body of a good answer is left to the caller. */
  readonly isStream: boolean;
}

interface Answer {
  readonly response: Response;
  /** The body; '' of a stream. */
  readonly text: string;
}

/** The slowest way up on which a body counts as sent: 256 kbit/s. */
const UP_BYTES_PER_MS = 32;

/**
 * Milliseconds for a body on its way up. `fetch` does not show how far it has come, so its size gives the time. A
 * character counts as one byte: texts are small.
 */
function upMs(body: Blob | string | undefined): number {
  const bytes = body instanceof Blob ? body.size : (body?.length ?? 0);
  return Math.ceil(bytes / UP_BYTES_PER_MS);
}

/**
 * Aborts with the given signal, and when nothing was heard for `ms`, until it is done. The first time is longer by
 * `upMs`, in which the body is sent.
 */
function limited(
  given: AbortSignal | undefined,
  { ms, upMs }: { readonly ms: number; readonly upMs: number },
): { readonly signal: AbortSignal; readonly heard: () => void; readonly done: () => void } {
  const own = new AbortController();
  const abort = (): void => {
    own.abort(given?.reason ?? new Error(`nothing came for ${ms} ms`));
  };
  let timer = setTimeout(abort, ms + upMs);
  if (given?.aborted === true) abort();
  given?.addEventListener('abort', abort);
  return {
    signal: own.signal,
    heard: () => {
      clearTimeout(timer);
      timer = setTimeout(abort, ms);
    },
    done: () => {
      clearTimeout(timer);
      given?.removeEventListener('abort', abort);
    },
  };
}

/** '' for a body that breaks off, unless the caller did that. */
async function orNothing(body: Promise<string>, signal?: AbortSignal): Promise<string> {
  try {
    return await body;
  } catch (error) {
    if (signal?.aborted === true) throw error;
    return '';
  }
}

/** The body. `heard` is called with each piece, so that a long one may take its time. */
async function textOf({ body }: Response, heard: () => void): Promise<string> {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    heard();
    const read = await reader?.read();
    if (read === undefined || read.done) return text + decoder.decode();
    text += decoder.decode(read.value, { stream: true });
  }
}

/** @throws {ApiError} with a status that is not 2xx */
function good(answer: Answer): Answer {
  if (answer.response.ok) return answer;
  throw refusal(answer.response, valueOf(answer));
}

/** @throws {ApiError} for a good answer that is not JSON */
function valueOf({ response, text }: Answer): unknown {
  try {
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  } catch {
    // A page of a proxy, for instance.
    if (!response.ok) return undefined;
    throw unreachable('the answer is not JSON');
  }
}

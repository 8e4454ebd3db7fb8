/** Requests of a tool worker to the API, by `fetch` alone. */
import { BackOff, isAborted, pause, retryAfterMs } from '../net/retries.js';
import type { ToolOffer } from '../protocol/calls/claims.js';
import type { FieldProblem } from '../protocol/values/field-problem.js';
import { isRecord } from '../protocol/values/json.js';
import type { Settings } from './options.js';

/** Milliseconds. An API without workers answers within 12 s, a busy one within 30 s. */
const REQUEST_TIMEOUT_MS = 40_000;
/** The pauses of all requests. A longer `Retry-After` is shortened: the API may be back earlier. */
export const PAUSES = { minPauseMs: 250, maxPauseMs: 15_000, maxRetryAfterMs: 60_000 };

/** The verdict of the API on a claim, a report of progress or a result. */
export interface Said {
  readonly verdict: string;
  readonly why?: string;
  readonly claimId?: string;
  readonly first?: { readonly claimId?: string };
  readonly reason?: string;
  readonly problems?: readonly FieldProblem[];
}

/** No verdict: no answer, or a refusal of the request itself. `status` 0: no answer. */
export class NoVerdict extends Error {
  override readonly name = 'NoVerdict';
  readonly status: number;
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    status: number,
    more: { readonly retryAfterMs?: number | undefined; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause });
    this.status = status;
    this.retryAfterMs = more.retryAfterMs;
  }

  /** Whether the same request may succeed later. A refused token may be renewed meanwhile. */
  get isPassing(): boolean {
    return [0, 401, 403, 408, 425, 429].includes(this.status) || this.status >= 500;
  }
}

export class Api {
  readonly #settings: Settings;
  /** The address that is used, until it does not answer. */
  #at = 0;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** @throws {NoVerdict} */
  async claim(offer: ToolOffer, body: object, signal: AbortSignal): Promise<Said> {
    return await this.#post(`${pathOf(offer)}/claim`, body, signal);
  }

  /** @throws {NoVerdict} */
  async progress(offer: ToolOffer, body: object, signal: AbortSignal): Promise<Said> {
    return await this.#post(`${pathOf(offer)}/progress`, body, signal);
  }

  /** @throws {NoVerdict} */
  async resolve(offer: ToolOffer, body: object, signal: AbortSignal): Promise<Said> {
    return await this.#post(`${pathOf(offer)}/resolution`, body, signal);
  }

  /** The stream of offers. @throws {NoVerdict} */
  async stream(lastId: string | undefined, signal: AbortSignal): Promise<Response> {
    const { tools, executors, agent } = this.#settings;
    const query = {
      tools: [...tools.keys()].join(','),
      executors: executors.join(','),
      ...(agent === undefined ? {} : { agent }),
    };
    const response = await this.#send('/v1/tool-calls/stream', {
      query,
      headers: {
        accept: 'text/event-stream',
        ...(lastId === undefined ? {} : { 'last-event-id': lastId }),
      },
      signal,
    });
    const type = response.headers.get('content-type') ?? '';
    if (response.ok && type.startsWith('text/event-stream')) return response;
    if (response.ok) {
      await response.body?.cancel();
      throw new NoVerdict(`The API answered with "${type}" in place of an event stream`, 502);
    }
    throw refusalOf(response, await jsonOf(response));
  }

  /** The next address, if there are several: the present one does not serve. */
  #turn(from: number): void {
    if (this.#at === from) this.#at = (from + 1) % this.#settings.urls.length;
  }

  async #post(path: string, body: object, stopped: AbortSignal): Promise<Said> {
    const { actor } = this.#settings;
    const signal = AbortSignal.any([stopped, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]);
    const response = await this.#send(path, {
      signal,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(actor === undefined ? body : { ...body, actor }),
    });
    const answer = await jsonOf(response);
    if (isRecord(answer) && typeof answer['verdict'] === 'string') return answer as unknown as Said;
    throw refusalOf(response, answer);
  }

  async #send(
    path: string,
    request: {
      readonly headers: Readonly<Record<string, string>>;
      readonly signal: AbortSignal;
      readonly query?: Readonly<Record<string, string>>;
      readonly body?: string;
    },
  ): Promise<Response> {
    const { urls, token, headers, tenant, fetch } = this.#settings;
    const at = this.#at;
    const query = new URLSearchParams({
      ...request.query,
      ...(tenant === undefined ? {} : { tenant }),
    }).toString();
    const { body, signal } = request;
    try {
      const bearer = typeof token === 'function' ? await token() : token;
      const response = await fetch(`${urls[at] ?? ''}${path}${query === '' ? '' : `?${query}`}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          ...headers,
          ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
          ...request.headers,
        },
        ...(body === undefined ? {} : { body }),
        signal,
      });
      if (response.status >= 500) this.#turn(at);
      return response;
    } catch (error) {
      this.#turn(at);
      throw new NoVerdict(`The API does not answer: ${messageOf(error)}`, 0, { cause: error });
    }
  }
}

/** Sends until there is a verdict that is final; undefined when the signal aborts. @throws {NoVerdict} for good */
export async function untilVerdict(
  send: () => Promise<Said>,
  signal: AbortSignal,
  onFailure: (failure: NoVerdict) => void = () => undefined,
): Promise<Said | undefined> {
  const backOff = new BackOff(PAUSES);
  while (!isAborted(signal)) {
    let waitMs: number | undefined;
    try {
      const said = await send();
      if (said.verdict !== 'queued') return said;
    } catch (error) {
      if (isAborted(signal)) return undefined;
      if (!(error instanceof NoVerdict) || !error.isPassing) throw error;
      onFailure(error);
      waitMs = error.retryAfterMs;
    }
    await pause(backOff.next(waitMs), signal);
  }
  return undefined;
}

function pathOf({ conversationId, toolCallId }: ToolOffer): string {
  return `/v1/conversations/${encodeURIComponent(conversationId)}/tool-calls/${encodeURIComponent(toolCallId)}`;
}

/** Undefined if the answer is not JSON, or breaks off. */
async function jsonOf(response: Response): Promise<unknown> {
  try {
    return (await response.json()) as unknown;
  } catch {
    return undefined;
  }
}

function refusalOf(response: Response, answer: unknown): NoVerdict {
  const { status, headers } = response;
  const detail = isRecord(answer) ? answer['detail'] : undefined;
  const text = typeof detail === 'string' ? detail : 'no reason given';
  // An answer that breaks off counts as none.
  if (response.ok) return new NoVerdict('The answer of the API is not a verdict', 0);
  const after = retryAfterMs(headers.get('retry-after') ?? undefined, Date.now());
  return new NoVerdict(`The API refused the request (${status}): ${text}`, status, {
    retryAfterMs: after,
  });
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

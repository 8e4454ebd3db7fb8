import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import {
  isModelFailure,
  ModelFailure,
  toModelFailure,
} from '../../../../src/model/shared/failure.js';
import { FAILURES } from '../../../../src/protocol/failures/failures.js';
import { promise } from '../../../support/promise.js';

interface Answer {
  readonly status?: number;
  readonly error?: object | string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The error that the client throws for an answer of the provider; without a status, for an error in the stream. */
function clientError({ status, error = { message: 'No.' }, headers = {} }: Answer): unknown {
  const body = status === undefined ? error : { error };
  return status === undefined
    ? new OpenAI.APIError(undefined, body as object, undefined, new Headers(headers))
    : OpenAI.APIError.generate(status, body, undefined, new Headers(headers));
}

function coded(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}

const COLLAPSED = new TypeError('terminated', {
  cause: coded('other side closed', 'UND_ERR_SOCKET'),
});
const REFUSED = new OpenAI.APIConnectionError({
  cause: new TypeError('fetch failed', { cause: coded('connect', 'ECONNREFUSED') }),
});
const UNKNOWN_HOST = new OpenAI.APIConnectionError({
  cause: new TypeError('fetch failed', { cause: coded('getaddrinfo', 'ENOTFOUND') }),
});
const RESET = new OpenAI.APIConnectionError({
  cause: new TypeError('fetch failed', { cause: coded('read', 'ECONNRESET') }),
});

const ROWS: readonly (readonly [what: string, error: unknown, code: string, retried: boolean])[] = [
  ['a 400', clientError({ status: 400 }), 'model_bad_request', false],
  ['a 402', clientError({ status: 402 }), 'model_bad_request', false],
  ['a 422', clientError({ status: 422 }), 'model_bad_request', false],
  ['a 401', clientError({ status: 401 }), 'model_unauthorized', false],
  ['a 403', clientError({ status: 403 }), 'model_unauthorized', false],
  ['a 404', clientError({ status: 404 }), 'model_not_found', false],
  [
    'a 403 for a model that the project may not use',
    clientError({ status: 403, error: { code: 'model_not_found' } }),
    'model_not_found',
    false,
  ],
  ['a 408', clientError({ status: 408 }), 'model_unavailable', true],
  ['a 409', clientError({ status: 409 }), 'model_unavailable', true],
  ['a 413', clientError({ status: 413 }), 'model_context_too_long', false],
  ['a 429', clientError({ status: 429 }), 'model_rate_limited', true],
  [
    'a 429 because the quota is used up',
    clientError({ status: 429, error: { code: 'insufficient_quota' } }),
    'model_rate_limited',
    false,
  ],
  ['a 500', clientError({ status: 500 }), 'model_unavailable', true],
  ['a 503', clientError({ status: 503 }), 'model_unavailable', true],
  ['a 529', clientError({ status: 529 }), 'model_unavailable', true],
  [
    'context_length_exceeded',
    clientError({ status: 400, error: { code: 'context_length_exceeded' } }),
    'model_context_too_long',
    false,
  ],
  [
    'the context error of llama.cpp',
    clientError({ status: 400, error: { code: 400, type: 'exceed_context_size_error' } }),
    'model_context_too_long',
    false,
  ],
  [
    'the context error of vLLM',
    clientError({
      status: 400,
      error: { message: "This model's maximum context length is 4096 tokens.", code: 400 },
    }),
    'model_context_too_long',
    false,
  ],
  [
    'content_filter',
    clientError({ status: 400, error: { code: 'content_filter' } }),
    'model_content_filtered',
    false,
  ],
  ['a refused connection', REFUSED, 'model_unavailable', true],
  ['a host that does not exist', UNKNOWN_HOST, 'model_unavailable', true],
  ['a connection that was reset before the answer', RESET, 'model_unavailable', true],
  ['a timeout of the client', new OpenAI.APIConnectionTimeoutError(), 'model_unavailable', true],
  [
    'a timeout signal',
    new DOMException('The operation timed out', 'TimeoutError'),
    'model_unavailable',
    true,
  ],
  ['a stream that was cut', COLLAPSED, 'model_stream_broken', true],
  [
    'a premature close',
    coded('Premature close', 'ERR_STREAM_PREMATURE_CLOSE'),
    'model_stream_broken',
    true,
  ],
  ['a reset in the stream', coded('read ECONNRESET', 'ECONNRESET'), 'model_stream_broken', true],
  ['malformed JSON in the stream', new SyntaxError('malformed'), 'model_stream_broken', true],
  [
    'a server error in the stream',
    clientError({ error: { message: 'oops', type: 'server_error' } }),
    'model_stream_broken',
    true,
  ],
  [
    'a sentence as error in the stream',
    clientError({ error: 'oops' }),
    'model_stream_broken',
    true,
  ],
  [
    'a rate limit in the stream',
    clientError({ error: { code: 'rate_limit_exceeded' } }),
    'model_rate_limited',
    true,
  ],
  [
    'a status of a gateway in the stream',
    clientError({ error: { code: 502, message: 'Bad gateway' } }),
    'model_unavailable',
    true,
  ],
  [
    'a base URL that is none',
    Object.assign(new TypeError('Invalid URL'), { code: 'ERR_INVALID_URL' }),
    'model_bad_request',
    false,
  ],
  ['an unknown error', new RangeError('what?'), 'model_unavailable', true],
  ['something that is no error', 'what?', 'model_unavailable', true],
];

describe('a model call that fails', () => {
  it.each(ROWS)('with %s', (_what, error, code, retried) => {
    const failure = toModelFailure(error);
    expect({ code: failure.code, retried: failure.retryable }).toEqual({ code, retried });
    expect(Object.hasOwn(FAILURES, failure.code)).toBe(true);
    expect(failure.message).not.toBe('');
    expect(failure.cause).toBeUndefined();
  });

  it('keeps its class when it has been classified before', () => {
    const failure = new ModelFailure('model_empty_answer', 'Nothing', { retryable: true });
    expect(toModelFailure(failure)).toBe(failure);
    expect(isModelFailure(failure)).toBe(true);
    expect(isModelFailure(new Error('Nothing'))).toBe(false);
  });

  it('has the status, the code and the words of the provider', () => {
    const error = {
      message: "Invalid schema for function 'x'",
      code: 'invalid_function_parameters',
    };
    expect(toModelFailure(clientError({ status: 400, error })).message).toBe(
      "The provider refused the request (400 invalid_function_parameters): Invalid schema for function 'x'",
    );
    expect(toModelFailure(REFUSED).message).toBe(
      "The model's server cannot be reached (ECONNREFUSED)",
    );
  });
});

describe('the pause before the next attempt', () => {
  const pause = (headers: Readonly<Record<string, string>>, status = 429): number | undefined =>
    toModelFailure(clientError({ status, headers })).retryAfterMs;

  it("is the provider's, in seconds, milliseconds or as a date", {
    ...promise('2.A.7'),
  }, () => {
    expect(pause({ 'retry-after': '7' })).toBe(7_000);
    expect(pause({ 'retry-after': '0.5' })).toBe(500);
    expect(pause({ 'retry-after-ms': '1500', 'retry-after': '7' })).toBe(1_500);
    const soon = new Date(Date.now() + 20_000).toUTCString();
    expect(pause({ 'retry-after': soon })).toBeGreaterThan(15_000);
    expect(pause({ 'retry-after': soon })).toBeLessThanOrEqual(20_000);
    expect(pause({ 'retry-after': '3' }, 503)).toBe(3_000);
  });

  it('is a minute at most', () => {
    expect(pause({ 'retry-after': '86400' })).toBe(60_000);
    expect(pause({ 'retry-after': 'Fri, 31 Dec 2100 23:59:59 GMT' })).toBe(60_000);
  });

  it('is the usual one when the provider sends none, nonsense or the past', () => {
    for (const value of ['', 'soon', '-5', '0', 'Fri, 31 Dec 1999 23:59:59 GMT'])
      expect(pause({ 'retry-after': value })).toBeUndefined();
    expect(pause({ 'retry-after-ms': 'x', 'retry-after': '2' })).toBe(2_000);
    expect(pause({})).toBeUndefined();
  });

  it('is none for a failure that is final', () => {
    expect(pause({ 'retry-after': '7' }, 400)).toBeUndefined();
  });

  it('comes before a retry that only x-should-retry allows, and x-should-retry also forbids', () => {
    const headers = { 'x-should-retry': 'true', 'retry-after': '2' };
    expect(toModelFailure(clientError({ status: 400, headers }))).toMatchObject({
      retryable: true,
      retryAfterMs: 2_000,
    });
    const no = { 'x-should-retry': 'false' };
    expect(toModelFailure(clientError({ status: 503, headers: no })).retryable).toBe(false);
  });
});

describe('the text of a failure', () => {
  const KEY = 'my-own-key/with+signs';

  it('never holds the key, wherever the provider or the platform quotes it', {
    ...promise('S47', '2.A.7'),
  }, () => {
    const quoting = [
      clientError({ status: 401, error: { message: `Incorrect API key provided: ${KEY}` } }),
      clientError({ status: 400, error: { message: `Bad header: Bearer ${KEY}`, code: KEY } }),
      clientError({ status: 500, error: `upstream refused ${KEY}` }),
      new TypeError(`Headers.append: "Bearer ${KEY}" is an invalid header value.`),
      new OpenAI.APIConnectionError({ message: `connect ${KEY}`, cause: new Error(KEY) }),
    ];
    for (const error of quoting) {
      const failure = toModelFailure(error, KEY);
      expect(`${failure.message} ${JSON.stringify(failure)}`).not.toContain(KEY);
    }
  });

  it('hides a text that resembles a key even when the key is not known', () => {
    const error = { message: 'No: Bearer abcdef12345 and sk-proj-abc_DEF-123456789.' };
    const { message } = toModelFailure(clientError({ status: 400, error }));
    expect(message).toContain('No: [key] and [key]');
  });

  it('is short, even when the provider answers with the whole request', () => {
    const error = { message: 'x'.repeat(100_000) };
    expect(toModelFailure(clientError({ status: 400, error })).message.length).toBeLessThan(500);
  });
});

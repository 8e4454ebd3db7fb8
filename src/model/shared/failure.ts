/**
 * Failures of model calls and the one classifier that makes them: every error of the client, the network and the stream
 * becomes a code of the failure table, a decision to retry, and a short text that never carries a key or a header.
 */
import { connectionErrorOf } from '../../net/connection-errors.js';
import { retryAfterMs } from '../../net/retries.js';
import type { FailureCode } from '../../protocol/failures/failures.js';
import { isRecord } from '../../protocol/values/json.js';

/** Codes that a model may fail with. */
export type ModelFailureCode = Extract<FailureCode, `model_${string}` | 'script_exhausted'>;

/** A conversation that waits longer for its next attempt looks dead. */
const MAX_RETRY_AFTER_MS = 60_000;
/** Enough for a sentence of the provider; some return the whole request. */
const MAX_DETAIL_CHARS = 300;

/** The failure of one model call. It has no `cause`, because causes hold requests with keys. */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure';
  readonly code: ModelFailureCode;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** The delay that the provider requested; above 0, at most a minute. Absent when it requested none. */
  readonly retryAfterMs?: number;
  /** The status of the provider's response. Absent when there was none, or when the failure came within the answer. */
  readonly httpStatus?: number;

  constructor(
    code: ModelFailureCode,
    message: string,
    options: {
      readonly retryable: boolean;
      readonly retryAfterMs?: number | undefined;
      readonly httpStatus?: number | undefined;
    },
  ) {
    super(message);
    this.code = code;
    this.retryable = options.retryable;
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs;
    if (options.httpStatus !== undefined) this.httpStatus = options.httpStatus;
  }
}

/** Compares by name, not by class: there may be two copies of this module in one process. */
export function isModelFailure(error: unknown): error is ModelFailure {
  return error instanceof Error && error.name === 'ModelFailure' && 'retryable' in error;
}

/** Whether the error means that the input was longer than the model reads. */
export function isContextTooLong(error: unknown): boolean {
  return toModelFailure(error).code === 'model_context_too_long';
}

/**
 * The failure for any error of a model call. `secret`, or each of several, is redacted from the provider's text.
 *
 * | error | code | retried |
 * |---|---|---|
 * | 400, 422, other 4xx | `model_bad_request` | no |
 * | 401, 403 | `model_unauthorized` | no |
 * | 404 | `model_not_found` | no |
 * | 413, context_length_exceeded | `model_context_too_long` | no |
 * | 429 | `model_rate_limited` | after `retry-after`; not when a quota is used up |
 * | 408, 409, 5xx | `model_unavailable` | yes |
 * | refused, no such host, timeout | `model_unavailable` | yes |
 * | stream cut or malformed | `model_stream_broken` | yes |
 * | content_filter | `model_content_filtered` | no |
 *
 * The header `x-should-retry` overrides the last column, as it does in the provider's own clients.
 */
export function toModelFailure(error: unknown, secret?: string | readonly string[]): ModelFailure {
  if (isModelFailure(error)) return error;
  const report = reportOf(error, typeof secret === 'string' ? [secret] : secret);
  if (report !== undefined) return fromReport(report);
  return fromTransport(error);
}

/** The provider's report of a failed request: a status, or an error object in the stream. */
interface ProviderReport {
  readonly status: number | undefined;
  /** `code` and `type` of the error object. */
  readonly words: readonly string[];
  /** Free text of the provider, redacted and bounded. */
  readonly detail: string;
  readonly header: (name: string) => string | undefined;
}

type Verdict = readonly [code: ModelFailureCode, retryable: boolean, text: string];

function fromReport(report: ProviderReport): ModelFailure {
  const [code, retryableByDefault, text] = verdictOf(report);
  const wish = report.header('x-should-retry');
  const retryable = wish === 'true' || (wish !== 'false' && retryableByDefault);
  const facts = [report.status, report.words[0]].filter((fact) => fact !== undefined).join(' ');
  // The text of an authentication error may quote the key.
  const detail = code === 'model_unauthorized' || report.detail === '' ? '' : `: ${report.detail}`;
  return new ModelFailure(code, `${text}${facts === '' ? '' : ` (${facts})`}${detail}`, {
    retryable,
    retryAfterMs: retryable ? pauseOf(report.header) : undefined,
    httpStatus: report.status,
  });
}

const CONTEXT_TEXT = /context (length|window|size)|prompt is too long|input is too long/i;
const QUOTA_WORDS = ['insufficient_quota', 'billing_hard_limit_reached'];
const FILTER_WORDS = [
  ...['content_filter', 'content_policy_violation', 'image_content_policy_violation'],
  ...['bio_policy', 'misalignment_policy_violation'],
];
/**
 * Codes of a failed response that blame the request: a retry would fail again. @see OpenAI API reference,
 * `ResponseError`
 */
const REQUEST_WORDS = /^(invalid_|image_|unsupported_image|empty_image|failed_to_download_image)/;
const CONTEXT_WORDS = ['context_length_exceeded', 'exceed_context_size_error'];

function verdictOf({ status, words, detail }: ProviderReport): Verdict {
  const says = (list: readonly string[]): boolean => words.some((word) => list.includes(word));
  if (says(FILTER_WORDS))
    return ['model_content_filtered', false, "The provider's content filter stopped the request"];
  const isRefusal = status === undefined || status === 400 || status === 422;
  if (says(CONTEXT_WORDS) || status === 413 || (isRefusal && CONTEXT_TEXT.test(detail)))
    return ['model_context_too_long', false, 'The conversation is too long for the model'];
  if (says(['model_not_found']) || status === 404)
    return ['model_not_found', false, 'The provider has no such model, or no such path'];
  if (status === 401 || status === 403 || says(['invalid_api_key', 'authentication_error']))
    return ['model_unauthorized', false, 'The provider refused the API key'];
  if (says(QUOTA_WORDS)) return ['model_rate_limited', false, 'The quota of the key is used up'];
  if (status === 429 || says(['rate_limit_exceeded', 'rate_limit_error']))
    return ['model_rate_limited', true, 'The provider limits the rate of requests'];
  if (status === undefined) return midStreamVerdict(words);
  if (status === 408 || status === 409 || status >= 500)
    return ['model_unavailable', true, 'The provider could not answer'];
  return ['model_bad_request', false, 'The provider refused the request'];
}

function midStreamVerdict(words: readonly string[]): Verdict {
  if (words.some((word) => REQUEST_WORDS.test(word)))
    return ['model_bad_request', false, 'The provider refused the request'];
  return ['model_stream_broken', true, 'The provider broke off its answer'];
}

function reportOf(error: unknown, secrets: readonly string[] = []): ProviderReport | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const fields = error as Readonly<Record<string, unknown>>;
  const body = bodyOf(fields['error']);
  const code = body?.['code'] ?? fields['code'];
  // Gateways report an upstream status as a number in the stream.
  const status = statusOf(fields['status']) ?? (body === undefined ? undefined : statusOf(code));
  if (status === undefined && body === undefined) return undefined;
  const words = [code, body?.['type'] ?? fields['type']].filter(
    (word): word is string => typeof word === 'string' && /^[\w.-]{1,60}$/.test(word),
  );
  const message = body?.['message'];
  return {
    status,
    words: words.map((word) => redact(word, secrets)),
    detail: typeof message === 'string' ? redact(message, secrets) : '',
    header: (name) => headerOf(fields['headers'], name),
  };
}

/** Some compatible servers send a sentence in place of the error object. */
function bodyOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (isRecord(value)) return value;
  return typeof value === 'string' ? { message: value } : undefined;
}

function statusOf(value: unknown): number | undefined {
  const status = typeof value === 'string' ? Number(value) : value;
  return typeof status === 'number' && status >= 400 && status < 600 ? status : undefined;
}

function redact(text: string, secrets: readonly string[]): string {
  // Placeholders such as `none` are words, not secrets.
  const known = secrets.filter(({ length }) => length >= 8);
  return known
    .reduce((shown, secret) => shown.replaceAll(secret, '[key]'), text)
    .replaceAll(/\bBearer\s+\S+/gi, '[key]')
    .replaceAll(/\b(sk|pk|key)-[\w*.-]{6,}/g, '[key]')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_DETAIL_CHARS);
}

function headerOf(headers: unknown, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  if (!isRecord(headers)) return undefined;
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

/** `retry-after-ms` is OpenAI's own. Missing, invalid and past values all mean the usual delay. */
function pauseOf(header: ProviderReport['header']): number | undefined {
  const milliseconds = Number.parseFloat(header('retry-after-ms') ?? '');
  const waitMs = Number.isNaN(milliseconds)
    ? (retryAfterMs(header('retry-after'), Date.now()) ?? 0)
    : milliseconds;
  return waitMs <= 0 ? undefined : Math.min(Math.ceil(waitMs), MAX_RETRY_AFTER_MS);
}

/** Errors without a report of the provider. Their texts are not repeated: some quote header values. */
function fromTransport(error: unknown): ModelFailure {
  const chain = causesOf(error);
  const code = chain.map(({ code: word }) => word).find((word) => word !== undefined);
  const names = chain.flatMap(({ name, className }) => [name, className]);
  const facts = code === undefined ? '' : ` (${code})`;
  const isBefore =
    names.some((name) => name.startsWith('APIConnection')) || chain.some(isFetchFailure);
  const isTimeout =
    names.some((name) => /Timeout/.test(name)) || connectionErrorOf(code)?.kind === 'timeout';
  if (code === 'ERR_INVALID_URL')
    return new ModelFailure('model_bad_request', 'The base URL of the model is not a URL', {
      retryable: false,
    });
  const isCut = !isBefore && chain.some(isCutStream);
  if (isCut) return streamBroken(`The model's stream was cut off${facts}`);
  if (!isBefore && names.includes('SyntaxError'))
    return streamBroken("The model's stream is malformed");
  if (isTimeout) return unavailable(`The model did not answer in time${facts}`);
  if (isBefore || code !== undefined)
    return unavailable(`The model's server cannot be reached${facts}`);
  if (names.includes('AbortError') || names.includes('APIUserAbortError'))
    return unavailable('The model call was aborted');
  return unavailable(`The model call failed: ${names[0] ?? 'not an error'}`);
}

/** A stream that ended before its answer did; the next attempt starts over. */
export function streamBroken(message: string): ModelFailure {
  return new ModelFailure('model_stream_broken', message, { retryable: true });
}

/** The provider's filter stopped an answer half-way: the same request would be stopped again. */
export function contentFiltered(): ModelFailure {
  return new ModelFailure(
    'model_content_filtered',
    "The provider's content filter stopped the answer",
    { retryable: false },
  );
}

/** No answer came, and the reason may pass. */
export function unavailable(message: string): ModelFailure {
  return new ModelFailure('model_unavailable', message, { retryable: true });
}

interface Cause {
  readonly name: string;
  /** The client's errors all have the name `Error`; only their classes distinguish them. */
  readonly className: string;
  readonly message: string;
  /** System and undici codes such as `ECONNREFUSED`. */
  readonly code: string | undefined;
}

function causesOf(error: unknown): readonly Cause[] {
  const chain: Cause[] = [];
  let current = error;
  // Chains are three long; the bound is against a cycle.
  while (current instanceof Error && chain.length < 8) {
    const code = 'code' in current ? current.code : undefined;
    chain.push({
      name: current.name,
      className: current.constructor.name,
      message: current.message,
      code: typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(code) ? code : undefined,
    });
    current = current.cause;
  }
  return chain;
}

function isFetchFailure({ name, message }: Cause): boolean {
  return name === 'TypeError' && message === 'fetch failed';
}

/** @see undici: a body that ends early is `TypeError: terminated`, with the reason as its cause. */
function isCutStream({ name, message, code }: Cause): boolean {
  if (name === 'TypeError' && message === 'terminated') return true;
  return connectionErrorOf(code)?.kind === 'cut' || /premature close|no body/i.test(message);
}

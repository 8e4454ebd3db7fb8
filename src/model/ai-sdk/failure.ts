/**
 * Converts errors of AI SDK packages to failures of the table. Recognises them by name and fields, so that no package
 * need be loaded.
 */
import { isRecord } from '../../protocol/values/json.js';
import { isModelFailure, ModelFailure, streamBroken, toModelFailure } from '../shared/failure.js';

/** The provider's response is malformed or missing. The texts of these errors quote it, so they are not repeated. */
const MALFORMED = [
  ...['AI_JSONParseError', 'AI_TypeValidationError', 'AI_InvalidResponseDataError'],
  ...['AI_EmptyResponseBodyError', 'AI_NoContentGeneratedError'],
];
/** The package itself rejected the request. */
const REFUSED = [
  ...['AI_InvalidPromptError', 'AI_InvalidArgumentError', 'AI_UnsupportedFunctionalityError'],
];
/** The texts name the missing environment variable and hold no key. */
const UNSET = ['AI_LoadAPIKeyError', 'AI_LoadSettingError'];

/**
 * The failure for any error that a provider package throws or streams; the rows are those of `toModelFailure`.
 * `secrets` are redacted from its text.
 *
 * | error | read as |
 * |---|---|
 * | `APICallError` with a status, or any error with `statusCode` | a response of that status, with its headers and its error object |
 * | `APICallError` without one | its cause: the server was not reached |
 * | an error object in the stream | that of the provider |
 * | a response that cannot be parsed | a malformed stream |
 * | no API key | `model_unauthorized` |
 */
export function toAiSdkFailure(error: unknown, secrets: readonly string[] = []): ModelFailure {
  if (isModelFailure(error)) return error;
  if (!(error instanceof Error)) return fromStream(error, secrets);
  if (UNSET.includes(error.name))
    return new ModelFailure('model_unauthorized', error.message, { retryable: false });
  if (MALFORMED.includes(error.name)) return streamBroken("The model's stream is malformed");
  const { message } = error;
  if (REFUSED.includes(error.name))
    return toModelFailure({ status: 400, error: { message } }, secrets);
  if (error.name === 'AI_NoSuchModelError')
    return toModelFailure({ status: 404, error: { message } }, secrets);
  if ('statusCode' in error && typeof error.statusCode === 'number')
    return fromStatus(error, secrets);
  if (error.name === 'AI_APICallError') return toModelFailure(fetchErrorOf(error));
  return toModelFailure(error, secrets);
}

/**
 * The error of fetch, which the packages keep as the cause, both before the response and in the middle of it. A socket
 * that the other side closed was open, so a request was in progress.
 */
function fetchErrorOf({ cause }: Error): unknown {
  const wasOpen =
    cause instanceof TypeError ||
    (isRecord(cause) && (cause['code'] === 'UND_ERR_SOCKET' || cause['code'] === 'ECONNRESET'));
  if (!wasOpen) return new TypeError('fetch failed', { cause });
  return cause instanceof TypeError ? cause : new TypeError('terminated', { cause });
}

/** Packages pass on the provider's own object, or wrap it in one of theirs. */
function fromStream(error: unknown, secrets: readonly string[]): ModelFailure {
  if (!isRecord(error)) return toModelFailure({ error }, secrets);
  const { message, type, code, statusCode: status } = error;
  return toModelFailure({ status, error: { message, type, code } }, secrets);
}

function fromStatus(error: Error, secrets: readonly string[]): ModelFailure {
  const { statusCode: status, responseHeaders: headers, responseBody, message } = fieldsOf(error);
  // A successful response that could not be parsed.
  if (typeof status === 'number' && status < 400)
    return streamBroken("The model's answer could not be read");
  const body = errorObjectOf(responseBody);
  return toModelFailure({ status, headers, error: { ...body, message } }, secrets);
}

function fieldsOf(error: Error): Readonly<Record<string, unknown>> {
  const { statusCode, responseHeaders, responseBody } = error as Error & Record<string, unknown>;
  return { statusCode, responseHeaders, responseBody, message: error.message };
}

/** `code` and `type` of the provider's error object, at any of its usual places. */
function errorObjectOf(responseBody: unknown): Readonly<Record<string, unknown>> {
  if (typeof responseBody !== 'string') return {};
  try {
    const parsed: unknown = JSON.parse(responseBody);
    const first: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
    if (!isRecord(first)) return {};
    const { code, type } = isRecord(first['error']) ? first['error'] : first;
    return { code, type };
  } catch {
    // The body is a gateway's page.
    return {};
  }
}

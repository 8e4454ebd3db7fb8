/** Turns errors into RFC 9457 problem documents. No other file makes a response of an error. */
import type { ErrorRequestHandler, Response } from 'express';
import { ConversationError } from '../../client/api/errors.js';
import { fromTemporal } from '../../client/temporal/errors.js';
import { FAILURES, type FailureCode } from '../../protocol/failures/failures.js';
import { MAX_HTTP_BODY_BYTES } from '../../protocol/limits/service-limits.js';
import type { AppDeps } from './deps.js';

/** `Retry-After` of retryable refusals, in seconds. Roll-overs and restarts last a second or two. */
const RETRY_AFTER_SECONDS = 1;

/** RFC 9457, with the failure table's code. @see https://www.rfc-editor.org/rfc/rfc9457 */
export interface ProblemDocument {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  /** The fields that break a rule; `path` is a JSON Pointer into the body, or `?name` for a query parameter. */
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
}

export function problemOf(error: ConversationError): ProblemDocument {
  const { title, httpStatus } = FAILURES[error.code];
  return {
    type: `urn:colloquy:problem:${error.code}`,
    title,
    status: httpStatus,
    // The message of an internal error goes to the log only: it may name files, hosts or data.
    detail:
      error.code === 'internal'
        ? 'Something went wrong here; the log has the details'
        : error.message,
    code: error.code,
    ...(error.problems === undefined ? {} : { errors: error.problems }),
  };
}

/** Whole seconds, as the header has them. */
function pauseSeconds({ retryAfterMs }: ConversationError): number {
  return retryAfterMs === undefined ? RETRY_AFTER_SECONDS : Math.ceil(retryAfterMs / 1_000) || 1;
}

/** Sends a problem, with further members where a route has some (`verdict`). */
export function sendProblem(
  response: Response,
  error: ConversationError,
  extension: Readonly<Record<string, unknown>> = {},
): void {
  const { retryable, httpStatus } = FAILURES[error.code];
  const isLater = httpStatus === 503 || httpStatus === 429 || error.retryAfterMs !== undefined;
  if (retryable && isLater) response.setHeader('Retry-After', String(pauseSeconds(error)));
  if (httpStatus === 401) response.setHeader('WWW-Authenticate', 'Bearer realm="colloquy"');
  response
    .status(httpStatus)
    .type('application/problem+json')
    .json({ ...problemOf(error), ...extension });
}

/** The last middleware: turns an error thrown by a route into a problem, so that none ends the process. */
export function problemHandler(deps: Pick<AppDeps, 'log'>): ErrorRequestHandler {
  const handle = (...[thrown, request, response]: Parameters<ErrorRequestHandler>): void => {
    const error = fromHttp(thrown) ?? fromTemporal(thrown);
    if (error.httpStatus >= 500)
      deps.log?.error(
        {
          requestId: response.getHeader('x-request-id'),
          ...{ err: error, cause: error.cause, path: request.path },
        },
        'request failed',
      );
    if (response.headersSent) response.destroy();
    else sendProblem(response, error);
  };
  // Express recognises an error handler by its four parameters.
  return Object.defineProperty(handle, 'length', { value: 4 });
}

/**
 * Converts errors of express and its body parser, which carry an HTTP status and, mostly, a type. Undefined for other
 * errors.
 */
function fromHttp(thrown: unknown): ConversationError | undefined {
  if (!(thrown instanceof Error) || ConversationError.isInstance(thrown)) return undefined;
  const { status, type, limit } = thrown as Error & Readonly<Record<string, unknown>>;
  const made = (code: FailureCode, message: string): ConversationError =>
    new ConversationError(code, message, { cause: thrown });
  if (type === 'entity.parse.failed')
    return made('malformed_json', `The body is not JSON: ${thrown.message}`);
  if (status === 413)
    return made(
      'body_too_large',
      `A body may have at most ${typeof limit === 'number' ? limit : MAX_HTTP_BODY_BYTES} bytes`,
    );
  if (status === 415) return made('unsupported_media_type', thrown.message);
  if (thrown instanceof URIError)
    return made('not_found', 'The path is not valid percent-encoding');
  if (typeof status === 'number' && status >= 400 && status < 500)
    return made('malformed_json', `The body cannot be read: ${thrown.message}`);
  return undefined;
}

export interface Answered {
  readonly httpStatus: number;
  readonly shown: object;
}

export async function answerWith(
  response: Response,
  judge: () => Promise<Answered>,
): Promise<void> {
  try {
    const { httpStatus, shown } = await judge();
    response.status(httpStatus).json(shown);
  } catch (error) {
    if (!ConversationError.isInstance(error) || error.code !== 'invalid_request') throw error;
    sendProblem(response, error, invalidVerdict(error));
  }
}

/** The client and the conversation report "invalid" in the same shape, so a caller needs to read only one. */
export function invalidVerdict({
  problems = [],
}: ConversationError): Readonly<Record<string, unknown>> {
  return { verdict: 'invalid', problems };
}

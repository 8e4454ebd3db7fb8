/** Failures of requests, as the API or the network gives them. */
import { retryAfterMs } from '../../net/retries.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';
import { isRecord } from '../../protocol/values/json.js';

/** A problem document of the API (RFC 9457), or the failure to reach it. */
export interface Problem {
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** A code of the failure table, or `unreachable`. */
  readonly code: string;
  readonly detail: string;
  /** The fields that break a rule; `path` is a JSON Pointer into the body. */
  readonly errors?: readonly FieldProblem[];
}

/** A request without a usable answer. `retryAfterMs`: the time that the API asks to wait. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly problem: Problem;
  readonly retryAfterMs: number | undefined;

  constructor(problem: Problem, retryAfterMs?: number) {
    super(problem.detail);
    this.problem = problem;
    this.retryAfterMs = retryAfterMs;
  }

  /** Whether the same request may succeed later: no answer, too many requests, or a server that is not ready. */
  get isPassing(): boolean {
    const { status } = this.problem;
    if (status === 409) return this.retryAfterMs !== undefined;
    return status === 0 || status === 408 || status === 429 || status >= 500;
  }
}

export function unreachable(cause: unknown): ApiError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new ApiError({ status: 0, code: 'unreachable', detail: `No answer: ${reason}` });
}

/** The error of a refused request. `body` is its answer as JSON, or undefined where it had none. */
export function refusal(response: Response, body: unknown): ApiError {
  const { status } = response;
  const fields = isRecord(body) ? body : {};
  const { code, detail, errors } = fields;
  const problem: Problem = {
    status,
    code: typeof code === 'string' ? code : `http_${status}`,
    detail: typeof detail === 'string' ? detail : `The API answered with status ${status}`,
    ...(Array.isArray(errors) ? { errors: errors as readonly FieldProblem[] } : {}),
  };
  const after = response.headers.get('retry-after') ?? undefined;
  return new ApiError(problem, retryAfterMs(after, Date.now()));
}

/** The error class of clients, and the error of an invalid field. Runs in the application. */
import type { FailureCode } from '../../protocol/failures/failures.js';
import { FAILURES, isFailureCode } from '../../protocol/failures/failures.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';

export interface ConversationErrorOptions {
  readonly cause?: unknown;
  readonly problems?: readonly FieldProblem[] | undefined;
  /** Milliseconds after which the same call may succeed, where they are known. */
  readonly retryAfterMs?: number | undefined;
}

/** A refusal or a failure. `code` names a row of the failure table; `httpStatus` is that row's. */
export class ConversationError extends Error {
  readonly code: FailureCode;
  readonly httpStatus: number;
  /** The fields that break a rule, if there are any. */
  readonly problems: readonly FieldProblem[] | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: FailureCode, message: string, options: ConversationErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ConversationError';
    this.code = code;
    this.httpStatus = FAILURES[code].httpStatus;
    this.problems = options.problems;
    this.retryAfterMs = options.retryAfterMs;
  }

  /** Whether the same call may succeed later without a change by the caller. */
  get retryable(): boolean {
    return FAILURES[this.code].retryable;
  }

  /** Like `instanceof`, but also true for an error of another copy of this package. */
  static isInstance(value: unknown): value is ConversationError {
    if (value instanceof ConversationError) return true;
    return (
      value instanceof Error &&
      value.name === 'ConversationError' &&
      isFailureCode(fieldOf(value, 'code'))
    );
  }
}

/** The error of one field that breaks a rule. */
export function invalidField(path: string, message: string): ConversationError {
  // Headers are named as they are; rules of ids name their field themselves.
  const name = path === '' ? 'The request' : path.replace(/^[/?]/, '');
  const text = message.startsWith(`${name} `) ? message : `${name}: ${message}`;
  return new ConversationError('invalid_request', text, {
    problems: [{ path, message }],
  });
}

export function fieldOf(value: unknown, field: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Record<string, unknown>)[field]
    : undefined;
}

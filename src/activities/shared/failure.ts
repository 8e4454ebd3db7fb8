/** Converts errors that leave an activity into failures whose type is a code of the failure table, retried or not. */
import type { Context } from '@temporalio/activity';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import type { AnyAgent } from '../../define/define-agent.js';
import type { ModelCallDetails } from '../../protocol/conversation/attempts.js';
import { FAILURES, type FailureCode, isFailureCode } from '../../protocol/failures/failures.js';
import { MAX_REASON_CHARS } from '../../protocol/limits/limits.js';
import { cutText, wellFormed } from '../../protocol/values/well-formed.js';
import type { ActivityTools } from './deps.js';

/** Bounds the delay that a provider requests; a conversation that waits longer looks dead. */
const MAX_RETRY_DELAY_MS = 60_000;

/** The errors of adapters (`ModelFailure`), by their shape: an adapter may come with another copy of the class. */
interface CodedError extends Error {
  readonly code: FailureCode;
  readonly retryable?: boolean;
  readonly retryAfterMs?: number;
}

function isCodedError(error: unknown): error is CodedError {
  return error instanceof Error && 'code' in error && isFailureCode(error.code);
}

/**
 * Converts an error to a failure: with its own code if it has one, else `fallback`. The message is kept and bounded;
 * the error itself is not attached, because it may hold requests with keys.
 */
export function toFailure(error: unknown, fallback: FailureCode): Error {
  if (error instanceof ApplicationFailure || error instanceof CancelledFailure) return error;
  if (!isCodedError(error)) return failureOf(fallback, reasonOf(error));
  const { code, message, retryable, retryAfterMs } = error;
  return failureOf(code, message, {
    retryable: retryable ?? FAILURES[code].retryable,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** The HTTP status of the provider that made a model call fail, as its adapter reports it. */
export function httpStatusOf(error: unknown): number | undefined {
  const status = error instanceof Error && 'httpStatus' in error ? error.httpStatus : undefined;
  return typeof status === 'number' ? status : undefined;
}

/** The message of an error. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The stack frames of an error without its text: for logs of errors that may quote keys. */
export function framesOf(error: unknown): readonly string[] {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  return stack
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('at '))
    .slice(0, 10);
}

/** Creates a failure of the table. */
export function failureOf(
  code: FailureCode,
  message: string,
  options: { readonly retryable?: boolean; readonly retryAfterMs?: number } = {},
): ApplicationFailure {
  const { retryable = FAILURES[code].retryable, retryAfterMs } = options;
  return ApplicationFailure.create({
    type: code,
    message: cutText(message === '' ? FAILURES[code].title : message, MAX_REASON_CHARS),
    nonRetryable: !retryable,
    ...(retryAfterMs === undefined || retryAfterMs <= 0
      ? {}
      : { nextRetryDelay: Math.min(retryAfterMs, MAX_RETRY_DELAY_MS) }),
  });
}

/** How many causes of an error are looked at. */
const MAX_CAUSES = 20;

/**
 * The same error; its texts and those of its causes have U+FFFD in the place of every lone surrogate. protobufjs writes
 * short ones as bytes that are not UTF-8, and Temporal's core then ends the worker.
 */
export function wellFormedError(error: unknown): unknown {
  if (typeof error === 'string') return wellFormed(error);
  let at = error;
  for (let left = MAX_CAUSES; left > 0 && at instanceof Error; left -= 1) {
    mendText(at, 'message');
    mendText(at, 'stack');
    mendText(at, 'name');
    if (at instanceof ApplicationFailure) mendText(at, 'type');
    at = at.cause;
  }
  return error;
}

/** Changes only what has to be: the text may be read-only. */
function mendText(error: Error, field: 'message' | 'stack' | 'name' | 'type'): void {
  const text = (error as { readonly [name in typeof field]?: unknown })[field];
  if (typeof text === 'string' && wellFormed(text) !== text)
    Object.defineProperty(error, field, { value: wellFormed(text), configurable: true });
}

/** The same failure, with details for the workflow. Returns failures of other types unchanged. */
export function withDetails(failure: Error, details: ModelCallDetails): Error {
  if (!(failure instanceof ApplicationFailure)) return failure;
  const { message, type, nonRetryable, nextRetryDelay } = failure;
  return ApplicationFailure.create({
    message,
    nonRetryable: nonRetryable ?? false,
    details: [details],
    ...(typeof type === 'string' ? { type } : {}),
    ...(nextRetryDelay === undefined || nextRetryDelay === null ? {} : { nextRetryDelay }),
  });
}

/**
 * Returns the agent by name.
 * @throws failure unknown_agent, retried: while workers are being replaced, another may have it.
 */
export function agentOf(tools: ActivityTools, name: string): AnyAgent {
  const agent = tools.registry.agent(name);
  if (agent !== undefined) return agent;
  throw failureOf('unknown_agent', `Agent "${name}" is not defined in this worker`, {
    retryable: true,
  });
}

/** True when a cancel was requested. A worker that shuts down or lost the task aborts as well, but that is retried. */
export function isCancelRequested(context: Context): boolean {
  return context.cancellationDetails?.cancelRequested === true;
}

/** The failure of an aborted activity: cancelled when requested, else lost and retried. */
export function interruption(context: Context, code: FailureCode): Error {
  if (isCancelRequested(context)) return new CancelledFailure('[cancelled]');
  return failureOf(code, 'The worker stopped, or lost the task, before it was done', {
    retryable: true,
  });
}

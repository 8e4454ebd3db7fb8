/**
 * Converts errors of the Temporal client to `ConversationError`, whose `code` is a row of the failure table. Runs in
 * application processes. No other file converts them.
 */

import {
  isGrpcCancelledError,
  isGrpcDeadlineError,
  isGrpcServiceError,
  QueryNotRegisteredError,
  ScheduleNotFoundError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { isFailureCode } from '../../protocol/failures/failures.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';
import { isRecord } from '../../protocol/values/json.js';
import { ConversationError, fieldOf } from '../api/errors.js';
import { devServerCommand } from '../workers/dev-server.js';
import type { Listening } from '../workers/listening.js';
import { chainOf, isRefusal } from '../workers/listening.js';

/** gRPC status codes that the client distinguishes. @see https://grpc.io/docs/guides/status-codes/ */
export const GRPC = {
  invalidArgument: 3,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** The failure thrown by an update validator, if the error is a refusal: its type and first detail. */
export function refusalOf(
  error: unknown,
): { type: string; message: string; detail: unknown } | undefined {
  if (!(error instanceof WorkflowUpdateFailedError)) return undefined;
  const { cause } = error;
  if (!(cause instanceof ApplicationFailure)) return undefined;
  return { type: cause.type ?? 'internal', message: cause.message, detail: cause.details?.[0] };
}

/** The gRPC status code in the chain of causes, if any. */
export function grpcCodeOf(error: unknown): number | undefined {
  return chainOf(error).find(isGrpcServiceError)?.code;
}

/** For `catch`: undefined when the server does not have the workflow or the schedule (any more). @throws the other errors */
export function unlessGone(error: unknown): undefined {
  const isGone =
    error instanceof WorkflowNotFoundError ||
    error instanceof ScheduleNotFoundError ||
    grpcCodeOf(error) === GRPC.notFound;
  if (!isGone) throw error;
}

/** True when the call timed out on the way, so that it may or may not have taken effect. */
export function isUnconfirmed(error: unknown): boolean {
  return (
    error instanceof WorkflowUpdateRPCTimeoutOrCancelledError ||
    isGrpcDeadlineError(error) ||
    isGrpcCancelledError(error)
  );
}

const TRANSIENT_CODES: readonly (number | undefined)[] = [
  GRPC.resourceExhausted,
  GRPC.failedPrecondition,
  GRPC.aborted,
  GRPC.unavailable,
];

/** The server's own type: the run ended with the task that the update came with, before the update was processed. */
const UNPROCESSED = 'UnprocessedUpdate';

/**
 * True for refusals that last one workflow task (a roll-over) or until the server has capacity: the same ids may be
 * sent again. `FAILED_PRECONDITION` is "unexpected workflow task failure" and "workflow is not ready": the update was
 * not applied.
 */
export function isTransient(error: unknown): boolean {
  const refusal = refusalOf(error);
  if (refusal !== undefined) return refusal.type === UNPROCESSED;
  return TRANSIENT_CODES.includes(grpcCodeOf(error));
}

/** True when a closed run holds the workflow id and the start was therefore refused. */
export function isClosedRun(error: unknown): boolean {
  return (
    error instanceof WorkflowExecutionAlreadyStartedError ||
    error instanceof WorkflowNotFoundError ||
    grpcCodeOf(error) === GRPC.alreadyExists
  );
}

/** True when the conversation exists, but no worker of it answered: none polls, or its workflow fails. */
export function isUnanswered(error: unknown): boolean {
  return (
    ConversationError.isInstance(error) &&
    ['no_worker', 'workflow_failing', 'workers_busy'].includes(error.code)
  );
}

/** Converts any error of a Temporal call to an ConversationError; an ConversationError stays as it is. */
export function fromTemporal(error: unknown, context: ServerSeen = {}): ConversationError {
  if (ConversationError.isInstance(error)) return error;
  const refusal = refusalOf(error);
  if (refusal !== undefined) return fromRefusal(refusal, error);
  if (error instanceof WorkflowNotFoundError)
    return new ConversationError('unknown_conversation', 'No such conversation', { cause: error });
  if (error instanceof QueryNotRegisteredError)
    return new ConversationError('no_worker', `The worker does not answer: ${error.message}`, {
      cause: error,
    });
  const code = grpcCodeOf(error);
  if (code === GRPC.unavailable || isUnconfirmed(error)) return unreachable(context, error);
  if (refusesClient(error)) {
    const text = refusedClientText(context.address, messageOf(chainOf(error).at(-1)));
    return new ConversationError('temporal_unreachable', text, { cause: error });
  }
  if (
    code === GRPC.invalidArgument &&
    chainOf(error).some(({ message }) => /search attribute/i.test(message))
  )
    return new ConversationError(
      'internal',
      `The server does not know the search attributes. Register them (${devServerCommand()} does), or pass searchAttributes: false`,
      { cause: error },
    );
  const own = fieldOf(error, 'code');
  if (isFailureCode(own)) return new ConversationError(own, messageOf(error), { cause: error });
  return new ConversationError('internal', messageOf(error), { cause: error });
}

/** The state of the server when it did not answer. */
export interface ServerSeen {
  readonly address?: string | undefined;
  /** Whether a connection to the address was refused; unknown if none was tried. */
  readonly listening?: Listening | undefined;
}

/** The Temporal server did not answer. The text says how to start one only if nothing listens. */
export function unreachable(
  { address, listening }: ServerSeen,
  cause?: unknown,
): ConversationError {
  const where = address === undefined ? '' : ` at ${address}`;
  const text =
    listening === 'nothing' || isRefusal(cause)
      ? `No Temporal server listens${where}. Start one with ${devServerCommand()}, or set TEMPORAL_ADDRESS`
      : `The Temporal server${where} did not answer in time: it may be overloaded, paused or cut off. Try again`;
  return new ConversationError('temporal_unreachable', text, { cause });
}

/** True when the server refuses the client's credentials: they may also expire while the process runs. */
export function refusesClient(error: unknown): boolean {
  const code = grpcCodeOf(error);
  return code === GRPC.unauthenticated || code === GRPC.permissionDenied;
}

/** The text for `refusesClient`. */
export function refusedClientText(address: string | undefined, why: string): string {
  const where = address === undefined ? '' : ` at ${address}`;
  return `The Temporal server${where} refuses this client (${why}). TEMPORAL_API_KEY, or the certificate of TEMPORAL_TLS_CLIENT_CERT_PATH, says who the client is.`;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function fromRefusal(
  refusal: { type: string; message: string; detail: unknown },
  cause: unknown,
): ConversationError {
  const detail = isRecord(refusal.detail) ? refusal.detail : {};
  const message = typeof detail['message'] === 'string' ? detail['message'] : refusal.message;
  const problems = Array.isArray(detail['problems'])
    ? (detail['problems'] as FieldProblem[])
    : undefined;
  const code = isFailureCode(refusal.type) ? refusal.type : 'internal';
  return new ConversationError(code, message, { cause, problems });
}

/** The row of an operation in the description of the API. */
import type { z } from 'zod';
import type { RouteRight } from '../../identity/identity.js';
import { Verdict } from './shapes.js';

export interface Operation {
  readonly method: 'get' | 'post' | 'delete';
  /** As the router has it: `/v1/conversations/:id`. */
  readonly path: string;
  /** Name in clients that are generated from the description. */
  readonly id: string;
  /** Needed of the caller, and said as a security requirement. */
  readonly right: RouteRight;
  /**
   * For a route whose path names no conversation: callers that are bound to one may use it, because the route itself
   * refuses all others.
   */
  readonly bound?: true;
  /** Answers a call under another right than `answer`: never limited, and a repeat waits for the same verdict. */
  readonly answersCall?: true;
  /** For programs that ask every few seconds whether the process serves: never limited. */
  readonly probe?: true;
  readonly summary: string;
  readonly query?: z.ZodObject;
  /** Several: one of them. */
  readonly bodies?: readonly z.ZodType[];
  /** The body is a file of any type. */
  readonly takesFile?: true;
  /**
   * Takes the header `Idempotency-Key`. `'itself'`: a repeat has no further effect with or without a key, so the key is
   * checked for its form only.
   */
  readonly idempotent?: true | 'itself';
  /** Answers with an `ETag`, and takes `If-None-Match`. */
  readonly tagged?: true;
  /** Answers with a `Location`. */
  readonly located?: true;
  /** Shapes of the answers by status. `'file'`: bytes; `'none'`: no body; `'stream'`: server-sent events. */
  readonly answers: Readonly<Record<number, z.ZodType | 'file' | 'none' | 'stream'>>;
  /** The other form of the answer, for `Accept: text/event-stream`. */
  readonly streams?: true;
}

/** Statuses of verdicts. Refusals have a problem in place of a verdict where the request itself is refused. */
export const VERDICTS = verdictsWith(200, 403, 404, 409, 410, 422);

/** An answer to a call is sent on where no worker confirms it in time. */
export const QUEUED_VERDICTS = verdictsWith(200, 202, 403, 404, 409, 410, 422);

/** Progress is judged by the claim alone. */
export const PROGRESS_VERDICTS = verdictsWith(200, 404, 409, 422);

function verdictsWith(...statuses: readonly number[]): Operation['answers'] {
  return Object.fromEntries(statuses.map((status) => [status, Verdict]));
}

/** Whether a request is the answer to a call, or moves its deadline. */
function isAnswer({ method, right, answersCall }: Operation): boolean {
  return method === 'post' && (right === 'answer' || right === 'extend' || answersCall === true);
}

/** Whether the requests of one caller are counted, and refused when they are too many. */
export function isLimited(operation: Operation): boolean {
  return operation.probe !== true && !isAnswer(operation);
}

/**
 * Whether a repeat under the same key is refused while the first request is open. The repeat of an answer to a call waits
 * for the same verdict.
 */
export function refusesRepeats(operation: Operation): boolean {
  return operation.idempotent !== undefined && !isAnswer(operation);
}

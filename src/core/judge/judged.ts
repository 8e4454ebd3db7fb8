/** The forms of a judgement, the same for every verb. */
import type { Verdict } from '../../protocol/calls/resolutions.js';
import type { FailureCode } from '../../protocol/failures/failures.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';

/** A request whose fields can be read, or its refusal. */
export type Parsed<Request, Refused> =
  | { readonly request: Request }
  | { readonly refusal: Refused };

/** A request that may be recorded, or its refusal. */
export type Judged<Accepted, Refused> =
  | { readonly accepted: Accepted }
  | { readonly refusal: Refused };

/** Why a message, an inbox event or a revocation is refused. */
export interface Refusal<Reply = unknown> {
  readonly code: FailureCode;
  readonly message: string;
  readonly problems?: readonly FieldProblem[];
  /** With code `duplicate`: the reply to the first attempt. */
  readonly reply?: Reply;
}

export type InvalidVerdict = Extract<Verdict, { verdict: 'invalid' }>;

export function invalid(path: string, message: string): InvalidVerdict {
  return { verdict: 'invalid', problems: [{ path, message }] };
}

export function invalidRequest(
  message: string,
  problems?: readonly FieldProblem[],
): { readonly refusal: Refusal<never> } {
  return {
    refusal: { code: 'invalid_request', message, ...(problems && { problems }) },
  };
}

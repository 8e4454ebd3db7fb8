/** Results of calls: from a run, an answer, or a failure. Pure. */
import type { PlannedCall } from '../../protocol/calls/plan.js';
import type { ResultFiles } from '../../protocol/calls/resolutions.js';
import type { ToolErrorCode, ToolResult } from '../../protocol/calls/results.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import type { AcceptedAnswer } from '../state/calls.js';

/** Adds the warning beside the result, so that the tool's own result is unchanged. */
export function withNotice({ name, repeats }: PlannedCall, result: ToolResult): ToolResult {
  if (repeats === undefined) return result;
  return {
    ...result,
    envelope: { ...result.envelope, notice: TEXTS.repeatWarning(name, repeats) },
  };
}

/** The result of a tool's run on a worker. */
export function ranResult(
  plan: PlannedCall,
  { envelope, executionMs, patches = [] }: Pick<ToolResult, 'envelope' | 'executionMs' | 'patches'>,
): ToolResult {
  const status = envelope.ok ? 'resolved' : 'errored';
  const provenance = plan.provenance ?? 'trusted';
  const time = executionMs === undefined ? {} : { executionMs };
  const changes = patches.length === 0 ? {} : { patches };
  return { status, envelope, provenance, ...time, ...changes };
}

/** An error result that the engine itself makes. */
export function errorResult(
  status: Exclude<ToolResult['status'], 'resolved'>,
  error: { code: ToolErrorCode; message: string },
  actor?: StampedActor,
): ToolResult {
  return {
    status,
    envelope: { ok: false, error },
    provenance: 'trusted',
    ...(actor === undefined ? {} : { actor }),
  };
}

/**
 * The result of a call that was answered from outside. Such an answer is untrusted: its content is under the sender's
 * control.
 */
export function answeredResult(answer: AcceptedAnswer, value: ToolResultValue): ToolResult {
  const { actor, executionMs } = answer;
  return {
    status: 'resolved',
    envelope: { ok: true, result: value, ...filesOf(answer) },
    provenance: 'untrusted',
    actor,
    ...(executionMs === undefined ? {} : { executionMs }),
  };
}

type ToolResultValue = Extract<ToolResult['envelope'], { ok: true }>['result'];

/** Leaves an empty list out. */
export function filesOf({ files = [] }: { readonly files?: ResultFiles }): {
  readonly files?: ResultFiles;
} {
  return files.length === 0 ? {} : { files };
}

/**
 * Whether the outcome of a lost run can be found out, by the tool or by a person, so that the loss is not yet a result.
 */
export function isHeld(plan: PlannedCall): boolean {
  return (
    plan.effects === 'once' && (plan.reconcile === true || plan.onOutcomeUnknown !== undefined)
  );
}

/** The loss of a tool's run. */
export interface Loss {
  readonly timedOut: boolean;
  /** No worker ever started the run, so it had no effect. */
  readonly neverStarted?: boolean;
  readonly message: string;
  /** Code of the failure table, where the failure has one. */
  readonly code?: string;
}

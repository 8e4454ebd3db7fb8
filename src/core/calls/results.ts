/** Results of calls: of a run, of an answer, of a failure. Pure. */
import type { PlannedCall } from '../../protocol/calls/plan.js';
import type { ResultFiles } from '../../protocol/calls/resolutions.js';
import type { ToolErrorCode, ToolResult } from '../../protocol/calls/results.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import type { CallState } from '../state/state.js';

/** The warning stands beside the result: what the tool has said is not touched. */
export function withNotice({ name, repeats }: PlannedCall, result: ToolResult): ToolResult {
  if (repeats === undefined) return result;
  return {
    ...result,
    envelope: { ...result.envelope, notice: TEXTS.repeatWarning(name, repeats) },
  };
}

/** What a run of ours came to. */
export function ranResult(
  plan: PlannedCall,
  { envelope, executionMs }: Pick<ToolResult, 'envelope' | 'executionMs'>,
): ToolResult {
  const status = envelope.ok ? 'resolved' : 'errored';
  const provenance = plan.provenance ?? 'trusted';
  const time = executionMs === undefined ? {} : { executionMs };
  return { status, envelope, provenance, ...time };
}

/** A result that is an error, by the engine's own word. */
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

/** The result of a call that somebody outside has answered: what they return is under their control. */
export function answeredResult(call: CallState, value: ToolResultValue): ToolResult {
  return {
    status: 'resolved',
    envelope: {
      ok: true,
      result: value,
      ...(call.answer === undefined ? {} : filesOf(call.answer)),
    },
    provenance: 'untrusted',
    ...(call.answer === undefined ? {} : { actor: call.answer.actor }),
    ...(call.answer?.executionMs === undefined ? {} : { executionMs: call.answer.executionMs }),
  };
}

type ToolResultValue = Extract<ToolResult['envelope'], { ok: true }>['result'];

/** An empty list says nothing. */
export function filesOf({ files = [] }: { readonly files?: ResultFiles }): {
  readonly files?: ResultFiles;
} {
  return files.length === 0 ? {} : { files };
}

/** Whether a lost run is more than a result: somebody can find out what it did. */
export function isHeld(plan: PlannedCall): boolean {
  return (
    plan.effects === 'once' && (plan.reconcile === true || plan.onOutcomeUnknown !== undefined)
  );
}

/** How the run of a tool was lost. */
export interface Loss {
  readonly timedOut: boolean;
  /** No worker ever took it: it certainly had no effect. */
  readonly neverStarted?: boolean;
  readonly message: string;
  /** Of the failure table, where the failure has one. */
  readonly code?: string;
}

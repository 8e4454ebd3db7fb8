/** One run of a tool as the runner sees it, and the message of what it threw. Runs in the worker. */
import type { CallContext } from '../../define/tool/context.js';
import type { AnyTool } from '../../define/tool/types.js';
import type { Json } from '../../protocol/values/json.js';
import type { LargeResults } from '../results/large-results.js';
import { toJson } from '../shared/normalise.js';

export interface ToolRun {
  readonly tool: AnyTool;
  /** As it was validated when the call was planned, or judged since by the present definition; it is not parsed again. */
  readonly input: Json;
  /** Everything of the tool's context but what is this run's own: the signal, and the means to ask. */
  readonly ctx: Omit<CallContext<never>, 'signal'>;
  /** The answer to the last question. Code gets at it by `answerTo`, which judges it by the form of now. */
  readonly answer?: { readonly value: Json } | undefined;
  /** Stops the run from outside: a cancel, or the end of the worker. */
  readonly signal: AbortSignal;
  /** Where too large a result goes. Absent: nowhere, it is cut. */
  readonly large?: LargeResults;
  /** The clock pinned in the call's plan. @defaultValue the tool's own */
  readonly timeoutMs?: number;
}

/** Never a stack: those name files and sometimes arguments, and the model has no use for them. */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message === '' ? error.name : error.message;
  if (typeof error === 'string') return error;
  try {
    return JSON.stringify(toJson(error));
  } catch {
    return 'an unknown error';
  }
}

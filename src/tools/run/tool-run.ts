/** One run of a tool as the runner sees it. Runs in the worker. */
import type { CallContext } from '../../define/tool/context.js';
import type { AnyTool } from '../../define/tool/types.js';
import type { Json } from '../../protocol/values/json.js';
import type { LargeResults } from '../results/large-results.js';
import type { Redactor } from '../shared/redact.js';
import type { StateView } from '../shared/state-view.js';

export interface ToolRun {
  readonly tool: AnyTool;
  /**
   * The input as validated when the call was planned, or judged since by the present definition; it is not parsed
   * again.
   */
  readonly input: Json;
  /** The tool's context without the parts of this run: the signal, and the functions to ask. */
  readonly ctx: Omit<CallContext<never>, 'signal'>;
  /** The states that the context changes. Absent: it changes none. */
  readonly states?: Pick<StateView, 'patches'>;
  /** The answer to the last question. Code reads it by `answerTo`, which validates it by the present form. */
  readonly answer?: { readonly value: Json } | undefined;
  /** Stops the run from outside: a cancel, or the end of the worker. */
  readonly signal: AbortSignal;
  /** Removes the secrets that the run has looked up from its results. Absent: it can look up none. */
  readonly redactor?: Pick<Redactor, 'text' | 'json'>;
  /** Stores results that are too large. Absent: they are cut. */
  readonly large?: LargeResults;
  /** Addresses of the API of this installation, which an HTTP tool never reaches. Absent: none is known. */
  readonly apiUrls?: readonly string[] | undefined;
  /** The timeout pinned in the call's plan, in milliseconds. @defaultValue the tool's own */
  readonly timeoutMs?: number;
}

/**
 * Runs one server tool: its timeout, its failures, its output. Every behaviour of the tool's code leads to one result
 * that history can hold and a model can read. Runs in the worker.
 */

import { isZodSchema } from '../../define/schemas/schema.js';
import { problemText, validate } from '../../define/schemas/validate.js';
import { isToolError } from '../../define/tool/context.js';
import { isToolFiles } from '../../define/tool/files.js';
import { isToolRetry, ToolRetry } from '../../define/tool/retry.js';
import type { AnyTool } from '../../define/tool/types.js';
import type {
  ToolErrorCode,
  ToolResultEnvelope,
  ToolResultError,
} from '../../protocol/calls/results.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import { MAX_REASON_CHARS } from '../../protocol/limits/limits.js';
import { MAX_TOOL_RESULT_BYTES } from '../../protocol/limits/service-limits.js';
import type { Json } from '../../protocol/values/json.js';
import { cutText } from '../../protocol/values/well-formed.js';
import type { AnswerRefused, ToolAsks, ToolEnded } from '../../protocol/workflow/activities.js';
import { ConnectionLost } from '../mcp/session/failures.js';
import { boundedResult } from '../results/large-results.js';
import { shownFiles } from '../results/shown-files.js';
import { withWholeState } from '../results/stored-state.js';
import { messageOf } from '../shared/message-of.js';
import { toJson } from '../shared/normalise.js';
import { logException } from '../shared/tool-logger.js';
import { Asking } from './asking.js';
import { timed } from './timed.js';
import type { ToolRun } from './tool-run.js';

/**
 * Runs the tool's code once and returns how it ended:
 *
 * | what happens | result |
 * |---|---|
 * | it returns a value | `ok`, validated by `output`, normalised to JSON; a value larger than the tool's `maxResultBytes` is stored or cut |
 * | it returns a value that `output` rejects | `invalid_output` |
 * | it throws, or returns `toolError(...)` | `tool_error`; after a throw its changes of states are dropped |
 * | it throws a `ToolRetry` in time | `tool_error`, unless the caller heeds `retry` |
 * | the connection to an MCP server is lost, and the call may not run twice | `outcome_unknown` |
 * | it asks | the question, in place of a result; `tool_error` when its code prevents the question |
 * | it rejects the answer to its question (`answerTo`) | `refused`, in place of a result |
 * | its time is over | `timeout`, even when the code ignores its signal and continues |
 *
 * @throws the reason of `signal` once that fires; the tool's own signal has fired by then.
 */
export async function runToolCall(run: ToolRun): Promise<ToolRunEnd> {
  const startedAt = performance.now();
  const end = await endOf(run);
  return { ...end, executionMs: Math.round(performance.now() - startedAt) };
}

/** How one run ended: the result, and whether the tool requests another run; or its question or rejection. */
export type ToolRunEnd = (ToolEnded & { readonly retry?: ToolRetry }) | ToolAsks | AnswerRefused;

type Untimed<End> = End extends unknown ? Omit<End, 'executionMs'> : never;

async function endOf(given: ToolRun): Promise<Untimed<ToolRunEnd>> {
  const { tool } = given;
  const handler = handlerOf(tool, given.apiUrls);
  if (handler === undefined)
    return { envelope: failure('not_available', TEXTS.noLongerAvailable(tool.name)) };
  const ctx = tool.mcp === undefined ? given.ctx : await wholeContext(given);
  if (ctx === undefined) return stateNotRead();
  const run = { ...given, ctx };
  const timeoutMs = run.timeoutMs ?? tool.timeouts.runMs;
  const asking = new Asking(run);
  const end = await timed({ signal: run.signal, timeoutMs }, (signal) =>
    handler(run.input, asking.contextWith(signal)),
  );
  const asked = await asking.outcomeOf(end);
  if (asked !== undefined) return asked;
  switch (end.end) {
    case 'timeout':
      return { envelope: failure('timeout', TEXTS.timeout(timeoutMs)) };
    case 'returned':
      return { envelope: await outputEnvelope(run, end.value), ...patchesOf(run) };
    case 'threw': {
      const { error } = end;
      if (error instanceof ConnectionLost)
        return { envelope: failure('outcome_unknown', TEXTS.connectionLost(tool.name)) };
      logException({ logger: run.ctx.logger, name: tool.name, phase: 'run' }, run.ctx, error);
      const envelope = thrownEnvelope(tool.name, error);
      return isToolRetry(error) ? { envelope, retry: error } : { envelope };
    }
  }
}

function patchesOf({ states }: ToolRun): Pick<ToolEnded, 'patches'> {
  const patches = states?.patches() ?? [];
  return patches.length === 0 ? {} : { patches };
}

async function wholeContext({ ctx }: ToolRun): Promise<ToolRun['ctx'] | undefined> {
  try {
    return await withWholeState(ctx);
  } catch (error) {
    ctx.logger.warn('state of a question not read', { reason: messageOf(error) });
    return undefined;
  }
}

/** The tool has not run; another attempt may reach the store. */
function stateNotRead(): Untimed<ToolRunEnd> {
  const retry = new ToolRetry({ message: TEXTS.askStateNotRead });
  return { envelope: failure('tool_error', retry.message), retry };
}

/** The tool's own code, or the HTTP request that it declares; undefined when neither runs here. */
export function handlerOf(tool: AnyTool, apiUrls?: readonly string[]): AnyTool['run'] {
  const { run, http } = tool;
  if (run !== undefined || http === undefined) return run;
  return async (input, ctx) => {
    // The HTTP client is loaded when the first request is made.
    const { runHttp } = await import('../http/run-http.js');
    return runHttp({ ...tool, http }, input as Json, { ctx, apiUrls });
  };
}

/** Converts the returned value to the tool's result. */
export async function outputEnvelope(
  run: Pick<ToolRun, 'tool' | 'large' | 'redactor'> & {
    readonly ctx: Pick<ToolRun['ctx'], 'logger'>;
  },
  returned: unknown,
): Promise<ToolResultEnvelope> {
  const { tool } = run;
  if (isToolError(returned)) return thrownEnvelope(tool.name, returned);
  const shows = isToolFiles(returned);
  const output = await checkedOutput(tool, shows ? returned.result : returned);
  if (!output.ok) return invalidOutput(run, output.problem);
  const shown = shows ? await shownFiles(returned.files, run.large) : undefined;
  if (shown !== undefined && 'problem' in shown) return invalidOutput(run, shown.problem);
  const maxBytes = tool.maxResultBytes ?? MAX_TOOL_RESULT_BYTES;
  // Before it is cut, which might leave a part of a secret.
  const value = run.redactor?.json(output.value) ?? output.value;
  return { ok: true, ...(await boundedResult(value, maxBytes, run.large)), ...shown };
}

function invalidOutput(
  { tool, ctx }: Pick<ToolRun, 'tool'> & { readonly ctx: Pick<ToolRun['ctx'], 'logger'> },
  problem: string,
): ToolResultEnvelope {
  ctx.logger.warn('tool returned an invalid result', { problem });
  return failure('invalid_output', TEXTS.invalidOutput(tool.name, problem));
}

type Output =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly problem: string };

async function checkedOutput(tool: AnyTool, returned: unknown): Promise<Output> {
  const { output } = tool;
  try {
    if (output === undefined) return { ok: true, value: toJson(returned) };
    // Zod validates the returned value, dates and all; JSON Schema can only validate JSON.
    const validated = await validate(output, isZodSchema(output) ? returned : toJson(returned));
    if (!validated.ok) return { ok: false, problem: problemText(validated.problems) };
    return { ok: true, value: toJson(validated.value) };
  } catch (error) {
    return { ok: false, problem: `it cannot be turned into JSON: ${messageOf(error)}` };
  }
}

/** The error of a tool, for the model. */
export function thrownError(name: string, error: unknown): ToolResultError {
  // Errors that a tool reports on purpose keep their own words.
  const spoken = isToolError(error) || isToolRetry(error);
  const message = spoken ? messageOf(error) : TEXTS.toolError(name, messageOf(error));
  return { code: 'tool_error', message: cutText(message, MAX_REASON_CHARS) };
}

function thrownEnvelope(name: string, error: unknown): ToolResultEnvelope {
  return { ok: false, error: thrownError(name, error) };
}

function failure(code: ToolErrorCode, message: string): ToolResultEnvelope {
  return { ok: false, error: { code, message } };
}

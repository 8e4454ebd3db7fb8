/** Lets a client tool shape and authorise its request before any client sees it. Runs in the worker. */
import { isToolError } from '../../define/tool/context.js';
import type { ToolErrorCode } from '../../protocol/calls/results.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import { MAX_PREPARED_BYTES } from '../../protocol/limits/service-limits.js';
import { type Json, utf8Bytes } from '../../protocol/values/json.js';
import type { PreflightToolResult } from '../../protocol/workflow/activities.js';
import { argsDigest } from '../shared/arguments.js';
import { messageOf } from '../shared/message-of.js';
import { toJson } from '../shared/normalise.js';
import { logException } from '../shared/tool-logger.js';
import { thrownError } from './run.js';
import { timed } from './timed.js';
import type { ToolRun } from './tool-run.js';

/**
 * | the tool's preflight | outcome |
 * |---|---|
 * | returns a value | the payload, as JSON, with its digest |
 * | throws, or returns `toolError(...)` | error result `tool_error`: the call is not offered |
 * | returns more than `MAX_PREPARED_BYTES`, or no JSON | error result `invalid_output`: cut, it would be another request |
 * | takes too long | error result `timeout` |
 *
 * @throws the reason of `signal` once that fires.
 */
export async function preflightToolCall(run: ToolRun): Promise<PreflightToolResult> {
  const { tool, input, ctx, signal } = run;
  const { preflight, name } = tool;
  if (preflight === undefined) return failed('not_available', TEXTS.noLongerAvailable(name));
  const timeoutMs = run.timeoutMs ?? tool.timeouts.runMs;
  const end = await timed({ signal, timeoutMs }, (own) =>
    preflight(input, { ...ctx, signal: own }),
  );
  switch (end.end) {
    case 'timeout':
      return failed('timeout', TEXTS.timeout(timeoutMs));
    case 'threw':
      logException({ logger: ctx.logger, name, phase: 'preflight' }, ctx, end.error);
      return { ok: false, error: thrownError(name, end.error) };
    case 'returned':
      return isToolError(end.value)
        ? { ok: false, error: thrownError(name, end.value) }
        : payloadOf(name, end.value);
  }
}

function payloadOf(name: string, returned: unknown): PreflightToolResult {
  let payload: Json;
  try {
    payload = toJson(returned);
  } catch (error) {
    return failed('invalid_output', TEXTS.invalidPreflight(name, messageOf(error)));
  }
  const bytes = utf8Bytes(JSON.stringify(payload));
  if (bytes <= MAX_PREPARED_BYTES) return { ok: true, payload, argsDigest: argsDigest(payload) };
  const problem = `it has ${bytes} bytes; at most ${MAX_PREPARED_BYTES}`;
  return failed('invalid_output', TEXTS.invalidPreflight(name, problem));
}

function failed(code: ToolErrorCode, message: string): PreflightToolResult {
  return { ok: false, error: { code, message } };
}

/** Shapes the request of a client call. Has no effects, as the tool declares; safe to repeat. */
import { Context } from '@temporalio/activity';
import type {
  PreflightToolInput,
  PreflightToolResult,
} from '../../protocol/workflow/activities.js';
import { judgeInput } from '../../tools/definition/judge.js';
import { preflightToolCall } from '../../tools/run/preflight.js';
import { accessTo } from '../../tools/shared/state-view.js';
import type { ScopedTools } from '../shared/deps.js';
import { agentOf, interruption, toFailure } from '../shared/failure.js';
import { withHeartbeat } from '../shared/heartbeat.js';
import { toolOfCall } from '../shared/listed-tools.js';
import { contextOf, statesFor } from './tool-context.js';

/**
 * Does not run a tool that reads the arguments differently than when the call was planned. An error of the tool is the
 * call's result; only infrastructure fails this activity, and an unknown agent, both retried.
 */
export async function preflightTool(
  tools: ScopedTools,
  input: PreflightToolInput,
): Promise<PreflightToolResult> {
  const { call } = input;
  const context = Context.current();
  agentOf(tools, input.agent);
  const tool = await toolOfCall(tools, input);
  if ('missing' in tool)
    return { ok: false, error: { code: 'not_available', message: tool.missing } };
  const judged = await judgeInput(tool, { ...call, executor: 'client' });
  if (!judged.runs) return { ok: false, changed: { definition: judged.definition } };
  const { attempt } = context.info;
  const signal = context.cancellationSignal;
  const timeoutMs = call.timeouts.runMs;
  try {
    const access = accessTo(await statesFor(tools, input), 'preflight');
    const ctx = contextOf(tools, input, { attempt, progress: () => undefined, ...access });
    return await withHeartbeat(() =>
      preflightToolCall({ tool, input: call.input, ctx, signal, timeoutMs }),
    );
  } catch (error) {
    if (signal.aborted) throw interruption(context, 'tool_lost');
    throw toFailure(error, 'tool_lost');
  }
}

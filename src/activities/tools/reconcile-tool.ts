/** Asks a tool for the outcome of a lost run. Has no effects, as the tool declares; safe to repeat. */
import { Context } from '@temporalio/activity';
import { TEXTS } from '../../protocol/failures/texts.js';
import type {
  ReconcileToolInput,
  ReconcileToolResult,
} from '../../protocol/workflow/activities.js';
import { judgeInput } from '../../tools/definition/judge.js';
import { reconcileToolCall } from '../../tools/run/reconcile.js';
import { accessTo } from '../../tools/shared/state-view.js';
import type { ScopedTools } from '../shared/deps.js';
import { agentOf, interruption, toFailure } from '../shared/failure.js';
import { withHeartbeat } from '../shared/heartbeat.js';
import { toolOfCall } from '../shared/listed-tools.js';
import { largeResults } from '../transcript/stored-results.js';
import { contextOf, statesFor } from './tool-context.js';

/**
 * An error of the tool fails this activity, which is retried a few times: the service that it asks may be down for a
 * moment. An unknown agent is failure `unknown_agent`, retried.
 */
export async function reconcileTool(
  tools: ScopedTools,
  input: ReconcileToolInput,
): Promise<ReconcileToolResult> {
  const { call } = input;
  const context = Context.current();
  agentOf(tools, input.agent);
  const tool = await toolOfCall(tools, input);
  if ('missing' in tool) return { outcome: 'unknown', reason: tool.missing };
  const judged = await judgeInput(tool, { ...call, executor: 'server' });
  if (!judged.runs)
    return { outcome: 'unknown', reason: TEXTS.definitionChangedInFlight(call.name) };
  try {
    const ctx = contextOf(tools, input, {
      attempt: context.info.attempt,
      progress: () => undefined,
      ...accessTo(await statesFor(tools, input), 'reconcile'),
    });
    return await withHeartbeat(() =>
      reconcileToolCall({
        tool,
        input: call.input,
        ctx,
        redactor: tools.scope.redactor,
        ...largeResults(tools, input),
        signal: context.cancellationSignal,
        timeoutMs: call.timeouts.runMs,
      }),
    );
  } catch (error) {
    if (context.cancellationSignal.aborted) throw interruption(context, 'tool_lost');
    throw toFailure(error, 'tool_lost');
  }
}

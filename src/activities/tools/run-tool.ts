/**
 * One tool call. Every fault of the tool's own code is a result; only infrastructure fails this activity, and only that
 * is retried, as often as the call's plan says.
 */
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { ToolRetry } from '../../define/tool/retry.js';
import type { AnyTool } from '../../define/tool/types.js';
import type { Question } from '../../protocol/calls/questions.js';
import type { ToolErrorCode } from '../../protocol/calls/results.js';
import { FAILURES, type FailureCode } from '../../protocol/failures/failures.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import { MAX_REASON_CHARS } from '../../protocol/limits/limits.js';
import type { LiveEvent } from '../../protocol/log/live-events.js';
import { cutText } from '../../protocol/values/well-formed.js';
import type { RunToolInput, RunToolResult } from '../../protocol/workflow/activities.js';
import { judgeInput } from '../../tools/definition/judge.js';
import { heldAt } from '../../tools/mcp/session/questions.js';
import { refused, SeenRun } from '../../tools/plugins/call-hooks.js';
import { PluginFailed } from '../../tools/plugins/lifecycle.js';
import { handlerOf, runToolCall } from '../../tools/run/run.js';
import { accessTo, StateView } from '../../tools/shared/state-view.js';
import { type ActivityTools, publishLive, type ScopedTools } from '../shared/deps.js';
import { agentOf, failureOf, interruption, reasonOf, toFailure } from '../shared/failure.js';
import { withHeartbeat } from '../shared/heartbeat.js';
import { inScopeOr } from '../shared/in-scope.js';
import { calledTool, type MissingTool } from '../shared/listed-tools.js';
import { largeResults } from '../transcript/stored-results.js';
import { contextOf, progressOf, statesFor } from './tool-context.js';

/** Time that finding the tool may take without counting towards the run. */
const LISTING_SLACK_MS = 1_000;

/**
 * | what happens | outcome |
 * |---|---|
 * | the tool returns, throws or runs out of time | its result (see `runToolCall`) |
 * | the tool asks, or rejects an answer | the question or rejection, in place of a result |
 * | the tool throws a `ToolRetry` and has attempts and time left | failure `tool_retry`, retried after the delay that it requests |
 * | the tool does not exist here | error result `not_available`; an unknown agent is retried, because another worker may have it |
 * | the turn is cancelled | the tool's signal fires, then cancelled |
 * | the worker stops | the tool's signal fires, then failure `tool_lost`, retried if the call may run again |
 * | the tool is not the one that the call was planned for, and reads its arguments differently | `changed` before the first run; after it, error result `outcome_unknown`. The tool does not run |
 * | a `once` call is delivered again | error result `outcome_unknown`; it does not run |
 */
export async function runTool(tools: ActivityTools, input: RunToolInput): Promise<RunToolResult> {
  const { call } = input;
  if (call.effects === 'once' && Context.current().info.attempt > 1)
    return failedBefore('outcome_unknown', TEXTS.outcomeUnknown(call.name));
  return await inScopeOr(tools, input, {
    run: (scoped) => runInScope(scoped, input),
    notReady: (reason, absent) => {
      if (call.effects !== 'once') throw failureOf('tool_lost', reason, { retryable: true });
      const text = absent === 'agent' ? TEXTS.agentNotRead : TEXTS.servicesNotMade;
      return failedBefore('not_available', text(call.name));
    },
  });
}

async function runInScope(tools: ScopedTools, input: RunToolInput): Promise<RunToolResult> {
  const { call } = input;
  const context = Context.current();
  const { attempt } = context.info;
  const startedAt = performance.now();
  const tool = await toolOf(tools, input);
  if ('missing' in tool) return failedBefore(tool.code ?? 'not_available', tool.missing);
  const changed = await changedSince(tool, input, attempt);
  if (changed !== undefined) return changed;
  if (handlerOf(tool) === undefined)
    return failedBefore('not_available', TEXTS.noLongerAvailable(call.name));
  const states = await statesOrResult(tools, input);
  if (!(states instanceof StateView)) return states;
  const { turnId, step } = input;
  const origin = { turnId, step, attempt, toolCallId: call.toolCallId, name: call.name };
  const publish = (event: LiveEvent): void => {
    publishLive(tools, input, event);
  };
  const progress = progressOf(tool, (payload) => {
    publish({ type: 'tool_progress', ...origin, payload });
  });
  const ctx = contextOf(tools, input, {
    ...{ attempt, progress: progress.report },
    ...accessTo(states),
  });
  const seen = seenRun(tools, input, { tool, ctx });
  try {
    const instead = await beforeRun(seen, input);
    if (instead !== undefined) return instead;
    publish({ type: 'tool_call_started', ...origin });
    const end = await withHeartbeat(() =>
      runToolCall({
        tool,
        input: call.input,
        ctx,
        states,
        redactor: tools.scope.redactor,
        apiUrls: tools.apiUrls,
        ...largeResults(tools, input),
        signal: context.cancellationSignal,
        timeoutMs: timeLeft(input, startedAt),
        answer: input.asked?.answer,
      }),
    );
    if ('ask' in end) {
      await withHeartbeat(() => seen.ends({ asked: true }));
      return { ...end, ask: withTaskQueue(end.ask) };
    }
    if (!('envelope' in end)) return end;
    const { retry, ...result } = end;
    if (retry !== undefined && !isLastAttempt(input, attempt, retry)) throw retryFailure(retry);
    await withHeartbeat(() => seen.ends(result));
    return result;
  } catch (error) {
    if (context.cancellationSignal.aborted) throw interruption(context, 'tool_lost');
    throw toFailure(error, 'tool_lost');
  } finally {
    progress.end();
  }
}

function seenRun(
  { registry }: ScopedTools,
  { agent, call }: RunToolInput,
  run: Pick<ConstructorParameters<typeof SeenRun>[0], 'tool' | 'ctx'>,
): SeenRun {
  const { plugins } = registry.agent(agent) ?? {};
  const signal = Context.current().cancellationSignal;
  return new SeenRun({ ...run, plugins, input: call.input, signal });
}

/** The result of a call that a plugin has refused; undefined when it may run. */
async function beforeRun(
  seen: SeenRun,
  { call }: RunToolInput,
): Promise<RunToolResult | undefined> {
  try {
    const refusal = await withHeartbeat(() => seen.begins());
    return refusal === undefined ? undefined : { envelope: refused(refusal), executionMs: 0 };
  } catch (error) {
    // A call that may run only once has only one attempt: its result says that it has not run.
    if (call.effects !== 'once' || !(error instanceof PluginFailed)) throw error;
    return failedBefore('not_available', error.message);
  }
}

/**
 * The states of plugins, without which the tool does not run. A call that may run only once has only one attempt: its
 * result says that it has not run.
 */
async function statesOrResult(
  tools: ScopedTools,
  input: RunToolInput,
): Promise<StateView | RunToolResult> {
  try {
    return await statesFor(tools, input);
  } catch (error) {
    if (input.call.effects !== 'once') throw toFailure(error, 'tool_lost');
    return failedBefore('not_available', TEXTS.statesNotRead(input.call.name));
  }
}

/** Adds to a question of a call that this worker holds open the task queue where the call continues. */
function withTaskQueue(ask: Question): Question {
  const at = heldAt(ask.state);
  return at === undefined ? ask : { ...ask, heldAt: at };
}

/** Milliseconds left for the run itself: later attempts have less of the call's total time. */
function timeLeft({ call, endsAt }: RunToolInput, startedAt: number): number {
  const listedForMs = Math.floor(performance.now() - startedAt);
  // A server that took long to list its tools has used up some of the time.
  const spentMs = listedForMs > LISTING_SLACK_MS ? listedForMs : 0;
  const runMs = Math.max(1, call.timeouts.runMs - spentMs);
  return endsAt === undefined
    ? runMs
    : Math.min(runMs, Math.max(1, Date.parse(endsAt) - Date.now()));
}

async function toolOf(
  tools: ScopedTools,
  { agent, call, asked, made, tenant, conversationId }: RunToolInput,
): Promise<AnyTool | MissingTool> {
  // A call that may run only once has only one attempt: failing it would report an unknown outcome, although it has not
  // run.
  const isOnce = call.effects === 'once';
  if (!isOnce) agentOf(tools, agent);
  try {
    // The tools of a server may have to be listed first.
    return await withHeartbeat(() =>
      calledTool(tools, agent, {
        ...{ ...call, made, tenant, conversationId },
        isNew: asked === undefined,
      }),
    );
  } catch (error) {
    const context = Context.current();
    if (context.cancellationSignal.aborted) throw interruption(context, 'tool_lost');
    if (!isOnce) throw failureOf('tool_lost', reasonOf(error), { retryable: true });
    return { missing: TEXTS.notMade(call.name, reasonOf(error)) };
  }
}

/** The result that replaces a run which must not use the recorded input; undefined when the run may start. */
async function changedSince(
  tool: AnyTool,
  { call, run = 1 }: RunToolInput,
  attempt: number,
): Promise<RunToolResult | undefined> {
  // A call that a server has begun continues there, and the server judges it.
  if (tool.mcp !== undefined && run > 1) return undefined;
  const judged = await judgeInput(tool, { ...call, executor: 'server' });
  if (judged.runs) return undefined;
  return run > 1 || attempt > 1
    ? failedBefore('outcome_unknown', TEXTS.definitionChangedInFlight(call.name))
    : { changed: { definition: judged.definition } };
}

/**
 * A `once` call has one attempt by its plan. Its effects are checked as well, because that rule must hold for any plan.
 */
function isLastAttempt(
  { call, endsAt }: RunToolInput,
  attempt: number,
  { afterMs = 0 }: ToolRetry,
): boolean {
  // After a delay that outlasts the call's time there would be no attempt, so the result is returned now.
  const isOver = endsAt !== undefined && Date.now() + afterMs >= Date.parse(endsAt);
  return isOver || call.effects === 'once' || attempt >= call.maxAttempts;
}

function retryFailure(retry: ToolRetry): ApplicationFailure {
  const { message, afterMs } = retry;
  return ApplicationFailure.create({
    type: 'tool_retry' satisfies FailureCode,
    message: cutText(message === '' ? FAILURES.tool_retry.title : message, MAX_REASON_CHARS),
    nonRetryable: false,
    // The server ignores a delay of zero.
    ...(afterMs === undefined ? {} : { nextRetryDelay: Math.max(1, afterMs) }),
  });
}

function failedBefore(code: ToolErrorCode, message: string): RunToolResult {
  return { envelope: { ok: false, error: { code, message } }, executionMs: 0 };
}

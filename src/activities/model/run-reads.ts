/**
 * Runs reads inside the model activity that requested them: calls of tools without effects, once the answer and the
 * plans of its calls are ready. A read has one attempt. A read that does not end with a result is left to an activity
 * of its own.
 */
import { Context } from '@temporalio/activity';
import { type ForeseenRead, foreseenReads } from '../../core/reads/foreseen.js';
import type { AnyAgent } from '../../define/define-agent.js';
import type { AnyTool } from '../../define/tool/types.js';
import type { PluginStates } from '../../protocol/calls/plugin-state.js';
import type { Message } from '../../protocol/conversation/messages.js';
import { INLINE_READS_AT_ONCE } from '../../protocol/limits/service-limits.js';
import type {
  CallModelInput,
  CallModelResult,
  InlineRead,
  ToolEnded,
} from '../../protocol/workflow/activities.js';
import { withReads } from '../../tools/model-input/model-answer.js';
import { seesRuns } from '../../tools/plugins/call-hooks.js';
import type { LargeResults } from '../../tools/results/large-results.js';
import { handlerOf, runToolCall } from '../../tools/run/run.js';
import { accessTo, StateView } from '../../tools/shared/state-view.js';
import { publishLive, type ScopedTools } from '../shared/deps.js';
import { isCancelRequested, reasonOf } from '../shared/failure.js';
import { contextOf, progressOf } from '../tools/tool-context.js';
import type { ModelStream } from './model-stream.js';

/** Most reads have ended by then; a heartbeat costs the server about as much as a read saves. */
const HEARTBEAT_AFTER_MS = 100;

/** A finished answer, with its agent and messages. */
export interface Answered {
  readonly agent: AnyAgent;
  /** States of the agent's plugins at the begin of the step. */
  readonly states: PluginStates;
  /** The messages that the model received. */
  readonly messages: readonly Message[];
  readonly outcome: CallModelResult;
  /** Details for the next attempt, in case this one is lost. */
  readonly details: () => unknown;
  /** Flushed before the calls begin, so that watchers see the text first. */
  readonly stream: Pick<ModelStream, 'flush'>;
}

/**
 * | what a read does | then |
 * |---|---|
 * | it ends in time | its result goes back with the answer, if it fits |
 * | it takes longer than all reads of an answer may | its signal fires, and it is left to an activity |
 * | it asks, or throws a `ToolRetry` | left to an activity, which carries that out |
 * | its result has to be stored beside the log | left to an activity: a result that the workflow did not take would stay in the store forever |
 * | a plugin sees the runs of calls | left to an activity, which calls the plugin |
 * | its tool is not defined here, or something other than its code fails | left to an activity |
 * | the turn is cancelled | its signal fires, and the model call ends as cancelled |
 * | the worker stops | its signal fires, and the answer goes back with the reads that have ended |
 *
 * @throws the cancellation, when a cancel was requested
 */
export async function answerWithReads(
  tools: ScopedTools,
  input: CallModelInput,
  answered: Answered,
): Promise<CallModelResult> {
  const { agent, states, outcome, messages, details, stream } = answered;
  const due = foreseenReads(input, { outcome, messages, nowMs: Date.now() });
  const [first] = due;
  if (first === undefined) return outcome;
  const context = Context.current();
  stream.flush();
  // The answer is paid for: if the worker is lost now, the next attempt learns its usage from this heartbeat.
  const heartbeat = setTimeout(() => {
    context.heartbeat(details());
  }, HEARTBEAT_AFTER_MS);
  const reads = await inTime({ tools, agent, states, withinMs: first.withinMs }, due);
  clearTimeout(heartbeat);
  // Reads that a cancel has interrupted are not part of the answer.
  if (isCancelRequested(context)) context.cancellationSignal.throwIfAborted();
  return withReads(outcome, reads);
}

/** The reads that ended, by the index of their call. Never throws. */
async function inTime(
  {
    tools,
    agent,
    states,
    withinMs,
  }: Pick<ReadDeps, 'tools' | 'agent' | 'states'> & { readonly withinMs: number },
  due: readonly ForeseenRead[],
): Promise<ReadonlyMap<number, InlineRead>> {
  const over = new AbortController();
  const timer = setTimeout(() => {
    over.abort(new DOMException('An activity does it instead', 'TimeoutError'));
  }, withinMs);
  const signal = AbortSignal.any([over.signal, Context.current().cancellationSignal]);
  const stopped = new Promise<undefined>((resolve) => {
    signal.addEventListener('abort', () => {
      resolve(undefined);
    });
  });
  const reads = new Map<number, InlineRead>();
  const waiting = due.values();
  const lane = async (): Promise<void> => {
    for (const read of waiting) {
      if (signal.aborted) return;
      const ended = await endOf({ tools, agent, states, signal, stopped }, read);
      if (ended !== undefined) reads.set(read.index, { toolCallId: read.plan.toolCallId, ended });
    }
  };
  try {
    await Promise.all(Array.from({ length: INLINE_READS_AT_ONCE }, lane));
    return reads;
  } finally {
    clearTimeout(timer);
  }
}

interface ReadDeps {
  readonly tools: ScopedTools;
  readonly agent: AnyAgent;
  readonly states: PluginStates;
  readonly signal: AbortSignal;
  /** Resolves when the signal fires. */
  readonly stopped: Promise<undefined>;
}

/** Undefined when the read is left to an activity. */
async function endOf(deps: ReadDeps, read: ForeseenRead): Promise<ToolEnded | undefined> {
  const { tools, agent, stopped } = deps;
  const tool = agent.tools.find(({ name }) => name === read.plan.name);
  if (tool === undefined || handlerOf(tool) === undefined || seesRuns(agent)) return undefined;
  try {
    // The race includes checks of the result, which take time as well.
    return await Promise.race([run(deps, tool, read), stopped]);
  } catch (error) {
    const { plan } = read;
    tools.logger.debug('read left to an activity', { tool: plan.name, reason: reasonOf(error) });
    return undefined;
  }
}

async function run(
  { tools, agent, states, signal }: ReadDeps,
  tool: AnyTool,
  { plan, input }: ForeseenRead,
): Promise<ToolEnded | undefined> {
  const { toolCallId, name, timeouts } = plan;
  const { turnId, step } = input;
  const view = new StateView(agent.plugins ?? [], states);
  const origin = { turnId, step, attempt: 1, toolCallId, name };
  publishLive(tools, input, { type: 'tool_call_started', ...origin });
  const progress = progressOf(tool, (payload) => {
    publishLive(tools, input, { type: 'tool_progress', ...origin, payload });
  });
  try {
    const end = await runToolCall({
      tool,
      input: input.call.input,
      ctx: contextOf(tools, input, {
        ...{ attempt: 1, progress: progress.report },
        ...accessTo(view),
      }),
      states: view,
      redactor: tools.scope.redactor,
      apiUrls: tools.apiUrls,
      ...(tools.blobs === undefined ? {} : { large: LEAVES }),
      signal,
      timeoutMs: timeouts.runMs,
    });
    if (!('envelope' in end)) return undefined;
    const { retry, ...ended } = end;
    return retry === undefined ? ended : undefined;
  } finally {
    progress.end();
  }
}

/** Replaces the store: a result that needs storing makes the read fail, so that it is left to an activity. */
const LEAVES: LargeResults = {
  keep: () => Promise.reject(new TypeError('the result has to be stored')),
  keepFile: () => Promise.reject(new TypeError('the file has to be stored')),
  readable: false,
};

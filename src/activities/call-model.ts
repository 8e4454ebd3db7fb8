/**
 * One model call: assembles the prompt, streams, and returns the finished answer with a plan for every call in it. Safe to
 * repeat: an attempt that failed left nothing but live events, which the next one replaces by its higher number.
 */
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { AnyAgent } from '../define/agent.js';
import { withCost } from '../model/cost.js';
import { tokenCounting } from '../model/count-tokens.js';
import { isContextTooLong, toModelFailure } from '../model/failure.js';
import {
  type CallModelInput,
  type CallModelResult,
  providerResultsOf,
} from '../protocol/activities.js';
import { assistantMessageId, type LiveEvent } from '../protocol/live-events.js';
import { type EarlierResult, type Message, resultsOfTurn, textOf } from '../protocol/messages.js';
import type { ModelResponse } from '../protocol/model.js';
import { answerTooLarge, partsWithin } from '../tools/model-answer.js';
import { askInContext } from '../tools/model-context.js';
import { planCalls } from '../tools/plan.js';
import { promptOf } from '../tools/prompt.js';
import { providerCallsOf } from '../tools/provider-calls.js';
import { type ActivityTools, policyMeans, publishLive } from './deps.js';
import {
  agentOf,
  failureOf,
  framesOf,
  interruption,
  isCancelRequested,
  toFailure,
} from './failure.js';
import { withHeartbeat } from './heartbeat.js';
import { ModelStream } from './model-stream.js';
import type { RunOfConversation } from './transcripts.js';

/**
 * | what happens | outcome |
 * |---|---|
 * | the model answers | its parts, usage and the plans of its calls |
 * | the turn is cancelled | `aborted`, with the text so far |
 * | the worker stops | failure `model_unavailable`, retried |
 * | the adapter throws a `ModelFailure` | failure of its code, retried as it says |
 * | text and calls are both missing, and no tool results came before | failure `model_empty_answer`, retried |
 * | the answer is larger than a conversation can hold | failure `model_answer_too_large`: the turn fails, the next goes on |
 * | the messages before those that were sent cannot be had | failure `transcript_miss`: the workflow sends everything |
 * | it is too long for the model, or for the agent's budget | made smaller and asked again once; then failure `model_context_too_long` |
 * | the agent is not defined here | failure `unknown_agent`, retried |
 */
export async function callModel(
  tools: ActivityTools,
  input: CallModelInput,
): Promise<CallModelResult> {
  const agent = agentOf(tools, input.agent);
  const context = Context.current();
  const { attempt } = context.info;
  const { turnId, step } = input;
  const origin = { turnId, step, attempt, messageId: assistantMessageId(turnId, step) };
  const publish = (event: LiveEvent): void => {
    publishLive(tools, input, event);
  };
  publish({ type: 'model_call_started', ...origin, model: agent.model.name });
  const stream = new ModelStream(origin, publish);
  try {
    const { after, results, ...answer } = await withHeartbeat(async () => {
      const messages = await tools.transcripts.whole(runOf(context), input.transcript);
      const results = resultsOfTurn(messages, turnId);
      const answer = await askInContext({
        agent,
        messages,
        mark: input.context,
        counting: tokenCounting,
        ask: (given) => generate(agent, given, stream),
        isTooLong: isContextTooLong,
      });
      return { ...answer, after: messages.at(-1)?.role, results };
    });
    if ('tooLong' in answer) throw failureOf('model_context_too_long', answer.tooLong);
    const { response } = answer;
    if (isEmpty(response) && after !== 'tool')
      throw failureOf('model_empty_answer', `Model "${response.model}" answered nothing`);
    const { parts, finishReason, model } = response;
    const usage = withCost(response.usage, agent.model.prices);
    const shown = providerCallsOf(response);
    const known = [...results, ...providerResultsOf(shown.providerCalls)];
    const calls = await plansOf(tools, { ...input, results: known }, response);
    const given = { context: answer.context };
    const result = { parts, calls, ...shown, model, finishReason, usage, attempt, ...given };
    const problem = answerTooLarge(result);
    if (problem !== undefined) throw failureOf('model_answer_too_large', problem);
    return result;
  } catch (error) {
    if (!context.cancellationSignal.aborted) {
      const failure = modelFailureOf(error);
      tools.logger.warn('model call failed', {
        ...origin,
        reason: failure.message,
        at: framesOf(error),
      });
      throw failure;
    }
    if (!isCancelRequested(context)) throw interruption(context, 'model_unavailable');
    return abortedResult(agent, stream, attempt);
  } finally {
    stream.close();
  }
}

/** A policy may look things up, so a stop must not wait for it, and the worker must be seen to live. */
async function plansOf(
  tools: ActivityTools,
  input: CallModelInput & { readonly results: readonly EarlierResult[] },
  { calls }: ModelResponse,
): Promise<CallModelResult['calls']> {
  const agent = agentOf(tools, input.agent);
  const planning = planCalls({ agent, calls, means: policyMeans(tools, input) });
  return withHeartbeat(() => Promise.race([planning, Context.current().cancelled]));
}

function runOf({ info }: Context): RunOfConversation {
  const { workflowId = '', runId = '' } = info.workflowExecution ?? {};
  return { workflowId, runId };
}

/** After tool results a model may well have nothing to add; as an answer to a person it is a fault. */
function isEmpty(response: ModelResponse): boolean {
  return response.calls.length === 0 && textOf(response.parts).trim() === '';
}

/** Ends as soon as the signal fires, even when the adapter does not heed it: a stop must not wait for a provider. */
async function generate(
  agent: AnyAgent,
  messages: readonly Message[],
  stream: ModelStream,
): Promise<ModelResponse> {
  const { cancellationSignal, cancelled } = Context.current();
  cancellationSignal.throwIfAborted();
  const { system, tools } = promptOf(agent);
  const request = { system, messages, tools };
  const answer = agent.model.generate(request, {
    signal: cancellationSignal,
    onEvent: (event) => {
      stream.take(event);
    },
  });
  // It loses the race against a cancel and fails later; nobody listens then.
  answer.catch(() => undefined);
  return Promise.race([answer, cancelled]);
}

/** Texts of errors that no adapter made are not repeated: some quote headers, and this goes into history. */
function modelFailureOf(error: unknown): Error {
  const known = error instanceof ApplicationFailure ? error : toModelFailure(error);
  return toFailure(known, 'model_unavailable');
}

function abortedResult(agent: AnyAgent, stream: ModelStream, attempt: number): CallModelResult {
  return {
    parts: partsWithin(stream.partsSoFar()),
    calls: [],
    model: agent.model.name,
    finishReason: 'cancelled',
    // The provider did not get to say; what it bills is not known here.
    usage: { inputTokens: 0, outputTokens: 0 },
    attempt,
    aborted: true,
  };
}

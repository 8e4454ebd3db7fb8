/** What activities do, without Temporal: model calls, tool runs and answer checks of a test conversation. */
import { entryOf } from '../core/asks.js';
import { markOf } from '../core/context/mark.js';
import { visibleTranscript } from '../core/context/visible.js';
import { turnResults } from '../core/earlier-results.js';
import type { CallState, ConversationState } from '../core/state.js';
import type { Agent } from '../define/agent.js';
import type { Logger } from '../define/context.js';
import type { Tool } from '../define/tool.js';
import { withCost } from '../model/cost.js';
import { tokenCounting } from '../model/count-tokens.js';
import { isContextTooLong, isModelFailure } from '../model/failure.js';
import {
  type CallModelResult,
  type CheckAnswerResult,
  type CheckEditResult,
  type PreflightToolResult,
  providerResultsOf,
  type ReconcileToolResult,
  type RunToolResult,
  type SummarizeResult,
} from '../protocol/activities.js';
import type { StampedActor } from '../protocol/actors.js';

import type { TurnError } from '../protocol/events.js';
import { idempotencyKeyFor } from '../protocol/ids.js';
import type { Message } from '../protocol/messages.js';
import type { Model, ModelStreamEvent } from '../protocol/model.js';
import { TEXTS } from '../protocol/texts.js';
import type { PlannedCall } from '../protocol/tools.js';
import { checkAnswer, checkForm } from '../tools/answers.js';
import { checkEdit } from '../tools/edits.js';
import { entryFields } from '../tools/entry.js';
import { answerTooLarge } from '../tools/model-answer.js';
import { planCalls } from '../tools/plan.js';
import type { PolicyMeans } from '../tools/policy.js';
import { preflightToolCall } from '../tools/preflight.js';
import { promptOf } from '../tools/prompt.js';
import { providerCallsOf } from '../tools/provider-calls.js';
import { reconcileToolCall } from '../tools/reconcile.js';
import { runToolCall, type ToolRun } from '../tools/run.js';
import { askInForm, outputFormOf, requestedOutput } from '../tools/structured-output.js';
import { toolLogger } from '../tools/tool-logger.js';

import { LocalResults } from './local-results.js';
import { summarizeHere } from './local-summary.js';

/** As the engine has it. */
const MAX_RECONCILE_ATTEMPTS = 5;

const QUIET: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

type ModelAnswer =
  | { readonly ok: true; readonly value: CallModelResult }
  | { readonly ok: false; readonly error: TurnError };

interface TextPart {
  readonly type: 'text' | 'reasoning';
  readonly text: string;
}

interface LocalOptions<Services> {
  readonly model?: Model;
  readonly services?: Services;
  readonly logger?: Logger;
}

export class LocalWork<Services> {
  readonly #agent: Agent<Services>;
  readonly #model: Model;
  readonly #services: Services;
  readonly #logger: Logger;
  readonly #results: LocalResults;

  constructor(agent: Agent<Services>, options: LocalOptions<Services>) {
    this.#agent = agent;
    this.#model = options.model ?? agent.model;
    this.#services = options.services as Services;
    this.#logger = options.logger ?? QUIET;
    this.#results = new LocalResults(agent);
  }

  /** One try: a test says itself what a retry would bring. A failure of the model ends the turn; a bug is thrown. */
  async callModel(
    state: ConversationState,
    at: Pick<CallState, 'turnId' | 'step'>,
    signal: AbortSignal,
  ): Promise<ModelAnswer> {
    const { system, tools } = promptOf(this.#agent);
    const soFar: TextPart[] = [];
    const onEvent = (event: ModelStreamEvent): void => {
      if (event.type === 'text' || event.type === 'reasoning')
        soFar.push({ type: event.type, text: event.text });
    };
    const form = outputFormOf(this.#agent, state.turn?.outputSchema);
    const request = { system, tools, ...requestedOutput(this.#agent, form) };
    const ask = (messages: readonly Message[]) =>
      this.#model.generate({ ...request, messages }, { signal, onEvent });
    try {
      const answer = await askInForm({
        agent: this.#agent,
        messages: visibleTranscript(state),
        mark: markOf(state).context,
        counting: tokenCounting,
        form,
        ask,
        askAgain: ask,
        isTooLong: isContextTooLong,
      });
      if ('tooLong' in answer)
        return { ok: false, error: { code: 'model_context_too_long', message: answer.tooLong } };
      const { response, context, output, outputProblem } = answer;
      const shown = providerCallsOf(response);
      const means = this.#means(state, at);
      const results = [...means.results, ...providerResultsOf(shown.providerCalls)];
      const calls = await planCalls({
        agent: this.#agent,
        calls: response.calls,
        means: { ...means, results },
      });
      const { parts, model, finishReason } = response;
      // A model that plays the agent's own costs what that would.
      const usage = withCost(response.usage, this.#model.prices ?? this.#agent.model.prices);
      const value = {
        ...{ parts, calls, ...shown, model, finishReason, usage, attempt: 1, context },
        ...(output === undefined ? {} : { output }),
        ...(outputProblem === undefined ? {} : { outputProblem }),
      };
      const message = answerTooLarge(value);
      return message === undefined
        ? { ok: true, value }
        : { ok: false, error: { code: 'model_answer_too_large', message } };
    } catch (error) {
      if (signal.aborted) return { ok: true, value: this.#aborted(soFar) };
      if (!isModelFailure(error)) throw error;
      return {
        ok: false,
        error: { code: error.code, message: `${error.message} (step ${at.step})` },
      };
    }
  }

  /** As of a turn that is cancelled half-way: what the model had said is kept. */
  #aborted(pieces: readonly TextPart[]): CallModelResult {
    const parts: { type: TextPart['type']; text: string }[] = [];
    for (const { type, text } of pieces) {
      const last = parts.at(-1);
      if (last?.type === type) last.text += text;
      else parts.push({ type, text });
    }
    return {
      parts,
      calls: [],
      model: this.#agent.model.name,
      finishReason: 'cancelled',
      usage: { inputTokens: 0, outputTokens: 0 },
      attempt: 1,
      aborted: true,
    };
  }

  async summarize(
    state: ConversationState,
    signal: AbortSignal,
  ): Promise<SummarizeResult | undefined> {
    return await summarizeHere({ agent: this.#agent, model: this.#model, state, signal });
  }

  /** A call of a sequential step, when its turn has come. */
  async planCall(state: ConversationState, toolCallId: string): Promise<PlannedCall> {
    const call = callOf(state, toolCallId);
    const { name, unplanned } = call.plan;
    const [planned] = await planCalls({
      agent: this.#agent,
      calls: [{ id: toolCallId, name, argumentsJson: unplanned?.argumentsJson ?? '' }],
      means: this.#means(state, call),
    });
    return planned?.plan ?? call.plan;
  }

  /** @throws the reason of `signal` once that fires */
  async runTool(
    state: ConversationState,
    toolCallId: string,
    signal: AbortSignal,
  ): Promise<RunToolResult> {
    const call = callOf(state, toolCallId);
    const tool = this.#toolOf(call);
    if (tool === undefined) {
      const message = TEXTS.noLongerAvailable(call.plan.name);
      return { envelope: { ok: false, error: { code: 'not_available', message } }, executionMs: 0 };
    }
    for (let attempt = 1; ; attempt += 1) {
      const end = await runToolCall({
        ...this.#runOf(state, call, attempt),
        tool,
        signal,
      });
      if (!('envelope' in end)) return { ...end, executionMs: 0 };
      const { envelope, retry } = end;
      // The pauses that a tool asks for are skipped. Real milliseconds would make logs differ from run to run.
      if (retry === undefined || attempt >= call.plan.maxAttempts)
        return { envelope, executionMs: 0 };
    }
  }

  async preflightTool(state: ConversationState, toolCallId: string): Promise<PreflightToolResult> {
    const call = callOf(state, toolCallId);
    const tool = this.#toolOf(call);
    if (tool === undefined) {
      const message = TEXTS.noLongerAvailable(call.plan.name);
      return { ok: false, error: { code: 'not_available', message } };
    }
    return preflightToolCall({ ...this.#runOf(state, call, 1), tool });
  }

  async reconcileTool(state: ConversationState, toolCallId: string): Promise<ReconcileToolResult> {
    const call = callOf(state, toolCallId);
    const tool = this.#toolOf(call);
    if (tool === undefined)
      return { outcome: 'unknown', reason: TEXTS.noLongerAvailable(call.plan.name) };
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await reconcileToolCall({ ...this.#runOf(state, call, attempt), tool });
      } catch (error) {
        if (attempt < MAX_RECONCILE_ATTEMPTS) continue;
        return { outcome: 'unknown', reason: String(error) };
      }
    }
  }

  async checkAnswer(state: ConversationState, toolCallId: string): Promise<CheckAnswerResult> {
    const call = callOf(state, toolCallId);
    const tool = this.#toolOf(call);
    const value = call.answer?.value ?? null;
    if (tool === undefined)
      return {
        ok: false,
        problems: [{ path: '', message: TEXTS.noLongerAvailable(call.plan.name) }],
      };
    const { ask } = call;
    if (ask !== undefined) return checkForm(ask.question.form, value);
    return checkAnswer({ tool, value });
  }

  #runOf(state: ConversationState, call: CallState, attempt: number): Omit<ToolRun, 'tool'> {
    const { plan, turnId, step, approver } = call;
    const { toolCallId, input, timeouts } = plan;
    const { conversationId } = state;
    const entry = entryOf(call);
    return {
      large: this.#results,
      answerByCode: entry.asked?.byCode === true,
      input: input ?? null,
      signal: new AbortController().signal,
      timeoutMs: timeouts.runMs,
      ctx: {
        agent: state.agent,
        tenant: state.tenant,
        conversationId,
        turnId,
        step,
        toolCallId,
        idempotencyKey: idempotencyKeyFor(state, { ...plan, turnId, step }),
        requester: call.asker?.requester ?? requesterOf(state),
        ...(approver === undefined ? {} : { approver }),
        ...entryFields(entry),
        attempt,
        progress: () => undefined,
        services: this.#services as never,
        storedResults: this.#results,
        logger: toolLogger(this.#logger, plan.name, { conversationId, turnId, toolCallId }),
      },
    };
  }

  async checkEdit(state: ConversationState, toolCallId: string): Promise<CheckEditResult> {
    const call = callOf(state, toolCallId);
    const tool = this.#toolOf(call);
    const input = call.edit?.input ?? null;
    if (tool === undefined) {
      const message = TEXTS.noLongerAvailable(call.plan.name);
      return { ok: false, problems: [{ path: '/resolution/input', message }] };
    }
    const means = this.#means(state, call);
    return checkEdit({ agent: this.#agent, tool, toolCallId, input, means });
  }

  #means(
    state: ConversationState,
    { turnId, step }: Pick<CallState, 'turnId' | 'step'>,
  ): PolicyMeans {
    const { agent, tenant, conversationId } = state;
    return {
      agent,
      tenant,
      conversationId,
      turnId,
      step,
      requester: requesterOf(state),
      results: turnResults(state, turnId),
      services: this.#services as never,
      logger: this.#logger,
    };
  }

  #toolOf(call: CallState): Tool<Services> | undefined {
    return this.#agent.tools.find((tool) => tool.name === call.plan.name);
  }
}

function requesterOf({ turn }: ConversationState): StampedActor {
  return turn?.requester ?? { id: 'unknown', verified: false, channel: 'system' };
}

function callOf(state: ConversationState, toolCallId: string): CallState {
  const call = state.calls[toolCallId];
  if (call === undefined) throw new Error(`no open call "${toolCallId}"`);
  return call;
}

/** The model's part of activities, without Temporal: answers and summaries in a test conversation. */
import { markOf } from '../../core/context/mark.js';
import { visibleTranscript } from '../../core/context/request-window.js';
import { turnResults } from '../../core/context/turn-results.js';
import { requesterOf } from '../../core/decide/tool-runs.js';
import type { CallState } from '../../core/state/calls.js';
import type { ConversationState } from '../../core/state/state.js';
import { wholeMessages } from '../../core/state/transcript.js';
import { withCost } from '../../model/shared/cost.js';
import { tokenCounting } from '../../model/shared/count-tokens.js';
import { isContextTooLong, isModelFailure } from '../../model/shared/failure.js';
import type { TurnError } from '../../protocol/conversation/turns.js';
import type { ModelCaller, ModelStreamEvent } from '../../protocol/model/model.js';
import {
  type CallModelResult,
  providerResultsOf,
  type SummarizeResult,
} from '../../protocol/workflow/activities.js';
import { answerTooLarge } from '../../tools/model-input/model-answer.js';
import type { GivenContext } from '../../tools/model-input/model-context.js';
import { promptOf } from '../../tools/model-input/prompt.js';
import {
  askInForm,
  outputFormOf,
  requestedOutput,
  unusableForm,
} from '../../tools/model-input/structured-output.js';
import { planCalls } from '../../tools/plan/plan.js';
import { providerCallsOf } from '../../tools/plan/provider-calls.js';
import { type LocalDeps, policyDepsOf } from './local-deps.js';
import { summarizeHere } from './local-summary.js';

type ModelAnswer =
  | { readonly ok: true; readonly value: CallModelResult }
  | { readonly ok: false; readonly error: TurnError };

function refusal(code: TurnError['code'], message: string): ModelAnswer {
  return { ok: false, error: { code, message } };
}

interface TextPart {
  readonly type: 'text' | 'reasoning';
  readonly text: string;
}

function callerOf(
  { tenant, conversationId, agent, turn }: ConversationState,
  { turnId, step }: Pick<CallState, 'turnId' | 'step'>,
): ModelCaller {
  return {
    ...{ tenant, conversationId, agent, turnId, step },
    ...{ purpose: 'answer', attempt: 1 },
    ...(turn === undefined ? {} : { requester: turn.requester }),
  };
}

export class LocalModel<Services> {
  readonly #local: LocalDeps<Services>;

  constructor(local: LocalDeps<Services>) {
    this.#local = local;
  }

  /**
   * Makes one attempt, since a test sets up the outcome of a retry itself. A failure of the model ends the turn; a bug
   * is thrown.
   */
  async callModel(
    state: ConversationState,
    at: Pick<CallState, 'turnId' | 'step'>,
    signal: AbortSignal,
  ): Promise<ModelAnswer> {
    const { agent, model: player } = this.#local;
    const { system, tools } = promptOf(agent);
    const soFar: TextPart[] = [];
    const onEvent = (event: ModelStreamEvent): void => {
      if (event.type === 'text' || event.type === 'reasoning')
        soFar.push({ type: event.type, text: event.text });
    };
    const unusable = unusableForm(state.turn?.outputSchema);
    if (unusable !== undefined) return refusal('invalid_request', unusable);
    const form = outputFormOf(agent, state.turn?.outputSchema);
    const request = { system, tools, ...requestedOutput(agent, form) };
    const options = { signal, onEvent, caller: callerOf(state, at) };
    const ask = ({ messages, stable }: GivenContext) =>
      player.generate({ ...request, messages, stableMessages: stable }, options);
    try {
      const answer = await askInForm({
        agent,
        messages: wholeMessages(visibleTranscript(state)),
        mark: markOf(state).context,
        counting: tokenCounting,
        form,
        ask,
        askAgain: ask,
        isTooLong: isContextTooLong,
      });
      if ('tooLong' in answer) return refusal('model_context_too_long', answer.tooLong);
      const { response, context, output, outputProblem } = answer;
      const shown = providerCallsOf(response);
      const results = [...turnResults(state, at.turnId), ...providerResultsOf(shown.providerCalls)];
      const { tenant, conversationId } = state;
      const about = { tenant, conversationId, agent: agent.name, ...at };
      const requester = requesterOf(state, {});
      const calls = await planCalls({
        agent,
        calls: response.calls,
        deps: policyDepsOf(this.#local, { ...about, requester, results }),
      });
      const { parts, model, finishReason } = response;
      // A model that plays the agent's own costs as much as that one.
      const usage = withCost(response.usage, player.prices ?? agent.model.prices);
      const value = {
        ...{ parts, calls, ...shown, model, finishReason, usage, attempt: 1, context },
        ...(output === undefined ? {} : { output }),
        ...(outputProblem === undefined ? {} : { outputProblem }),
      };
      const message = answerTooLarge(value);
      return message === undefined
        ? { ok: true, value }
        : refusal('model_answer_too_large', message);
    } catch (error) {
      if (signal.aborted) return { ok: true, value: this.#aborted(soFar) };
      if (!isModelFailure(error)) throw error;
      return refusal(error.code, `${error.message} (step ${at.step})`);
    }
  }

  /** The result for a turn that is cancelled half-way: the streamed text is kept. */
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
      model: this.#local.agent.model.name,
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
    const { agent, model } = this.#local;
    return await summarizeHere({ agent, model, state, signal });
  }
}

/** The activities that call the model, without Temporal: answers and summaries in a test conversation. */
import type { AnyAgent } from '../../define/define-agent.js';
import { withCost } from '../../model/shared/cost.js';
import { tokenCounting } from '../../model/shared/count-tokens.js';
import { isContextTooLong, isModelFailure } from '../../model/shared/failure.js';
import { resultsOfTurn } from '../../protocol/conversation/messages.js';
import type { TurnError } from '../../protocol/conversation/turns.js';
import type { ModelCaller, ModelStreamEvent } from '../../protocol/model/model.js';
import {
  type CallModelInput,
  type CallModelResult,
  providerResultsOf,
  type SummarizeInput,
  type SummarizeResult,
} from '../../protocol/workflow/activities.js';
import { answerTooLarge } from '../../tools/model-input/model-answer.js';
import type { GivenContext } from '../../tools/model-input/model-context.js';
import { promptOf } from '../../tools/model-input/prompt.js';
import {
  askInForm,
  outputFormOf,
  requestedOutput,
  resultFormOf,
  unusableForm,
} from '../../tools/model-input/structured-output.js';
import { planCalls } from '../../tools/plan/plan.js';
import { providerCallsOf } from '../../tools/plan/provider-calls.js';
import { PluginFailed, startPlugins } from '../../tools/plugins/lifecycle.js';
import { contextMessages, type Prepared, prepareAgent } from '../../tools/plugins/prepare.js';
import { resultsWithValues } from '../../tools/plugins/result-values.js';
import { ModelCallLost } from './local-activities.js';
import { agentNamed, type LocalDeps, modelOf, policyDepsOf } from './local-deps.js';
import { summarizeHere } from './local-summary.js';

function refusal(code: TurnError['code'], message: string): ModelCallLost {
  return new ModelCallLost({ code, message });
}

interface TextPart {
  readonly type: 'text' | 'reasoning';
  readonly text: string;
}

function callerOf(input: CallModelInput): ModelCaller {
  const { tenant, conversationId, agent, turnId, step, requester } = input;
  const about = { tenant, conversationId, agent, turnId, step, requester };
  return { ...about, purpose: 'answer', attempt: 1 };
}

export class LocalModel<Services> {
  readonly #local: LocalDeps<Services>;
  /** Agents whose plugins are started. */
  readonly #begun = new Set<AnyAgent>();

  constructor(local: LocalDeps<Services>) {
    this.#local = local;
  }

  /**
   * Makes one attempt, since a test sets up the outcome of a retry itself. Aborted, it returns the text so far.
   * @throws {ModelCallLost} for a failure of the model, which ends the turn
   */
  async callModel(input: CallModelInput, signal: AbortSignal): Promise<CallModelResult> {
    const unusable = unusableForm(input.output);
    if (unusable !== undefined) throw refusal('invalid_request', unusable);
    const agent = agentNamed(this.#local, input.agent);
    // Without plugins nothing is awaited, so that the order of a test's events does not depend on them.
    return agent.plugins === undefined
      ? await this.#asked(
          input,
          { agent, servers: [], context: [], patches: [], states: {} },
          signal,
        )
      : await this.#asked(input, await this.#prepared(input, signal), signal);
  }

  async #asked(
    input: CallModelInput,
    { agent, context: added, patches, states }: Prepared,
    signal: AbortSignal,
  ): Promise<CallModelResult> {
    const player = modelOf(this.#local, agent);
    const soFar: TextPart[] = [];
    const onEvent = (event: ModelStreamEvent): void => {
      if (event.type === 'text' || event.type === 'reasoning')
        soFar.push({ type: event.type, text: event.text });
    };
    const form = outputFormOf(agent, input.output);
    const messages = input.transcript.append;
    const { system, tools } = promptOf(agent);
    const behind = contextMessages(added, input);
    const request = { system, tools, ...requestedOutput(agent, form), ...resultFormOf(agent) };
    const options = { signal, onEvent, caller: callerOf(input) };
    const ask = ({ messages: given, stable }: GivenContext) =>
      player.generate(
        { ...request, messages: [...given, ...behind], stableMessages: stable },
        options,
      );
    try {
      const answer = await askInForm({
        agent,
        messages,
        mark: input.context,
        heldBytes: input.heldBytes,
        counting: tokenCounting,
        form,
        ask,
        askAgain: ask,
        isTooLong: isContextTooLong,
      });
      if ('tooLong' in answer) throw refusal('model_context_too_long', answer.tooLong);
      const { response, context, output, outputProblem } = answer;
      const shown = providerCallsOf(response);
      const ran = providerResultsOf(shown.providerCalls);
      const results = [...resultsOfTurn(messages, input.turnId), ...ran];
      const deps = policyDepsOf(this.#local, { ...input, agent: agent.name, results }, states);
      const calls = await planCalls({ agent, calls: response.calls, deps });
      const { parts, model, finishReason } = response;
      // A model that plays the agent's own costs as much as that one.
      const usage = withCost(response.usage, player.prices ?? agent.model.prices);
      const value = {
        ...{ parts, calls, ...shown, model, finishReason, usage, attempt: 1, context },
        ...(output === undefined ? {} : { output }),
        ...(outputProblem === undefined ? {} : { outputProblem }),
        ...(patches.length === 0 ? {} : { patches }),
      };
      const problem = answerTooLarge(value);
      if (problem !== undefined) throw refusal('model_answer_too_large', problem);
      return value;
    } catch (error) {
      if (signal.aborted) return this.#aborted(soFar);
      if (!isModelFailure(error)) throw error;
      throw refusal(error.code, `${error.message} (step ${input.step})`);
    }
  }

  /** A worker starts the plugins before it takes work; here, with the first model call. */
  async #started(agent: AnyAgent): Promise<void> {
    if (this.#begun.has(agent)) return;
    this.#begun.add(agent);
    const { services, logger, ports } = this.#local;
    await startPlugins([agent], { services: services as never, logger, ports });
  }

  /** @throws {ModelCallLost} for a failure of a plugin, which ends the turn */
  async #prepared(input: CallModelInput, signal: AbortSignal): Promise<Prepared> {
    const { services, logger, ports } = this.#local;
    const agent = agentNamed(this.#local, input.agent);
    const { tenant, conversationId, turnId, step, requester, transcript } = input;
    const about = { tenant, conversationId, turnId, step, requester };
    try {
      await this.#started(agent);
      const prepared = await prepareAgent({
        ...{ agent, ...about, signal, logger, ports },
        services: services as never,
        states: this.#local.states(),
        results: () => resultsWithValues(transcript.append, turnId),
      });
      for (const tool of prepared.agent.tools)
        if (tool.made !== undefined) this.#local.added.set(tool.name, tool);
      return prepared;
    } catch (error) {
      if (error instanceof PluginFailed) throw refusal(error.code, error.message);
      throw error;
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

  /** @throws {ModelCallLost} when no summary was made */
  async summarize(input: SummarizeInput, signal: AbortSignal): Promise<SummarizeResult> {
    const agent = agentNamed(this.#local, input.agent);
    const model = modelOf(this.#local, agent);
    const { transcript } = input;
    return await summarizeHere({ agent, model, messages: transcript.append, signal });
  }
}

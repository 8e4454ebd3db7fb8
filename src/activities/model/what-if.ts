/**
 * One model call of a what-if: the recorded turn up to a step, with another prompt or model. Calls of the answer get
 * recorded results; no tool runs, no plugin is asked, and nothing of the conversation is written. Safe to repeat.
 */
import { Context } from '@temporalio/activity';
import { played, stepShown } from '../../core/what-if/play.js';
import type { RecordedTurn } from '../../core/what-if/recorded.js';
import type { AnyAgent } from '../../define/define-agent.js';
import { tokenCounting } from '../../model/shared/count-tokens.js';
import { isContextTooLong } from '../../model/shared/failure.js';
import { textOf } from '../../protocol/conversation/messages.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import type { ModelFiles, ModelResponse } from '../../protocol/model/model.js';
import { utf8Bytes } from '../../protocol/values/json.js';
import {
  MAX_WHAT_IF_ANSWER_BYTES,
  type WhatIfAnswer,
  type WhatIfStepInput,
  type WhatIfStepResult,
} from '../../protocol/workflow/what-if.js';
import type { GivenContext } from '../../tools/model-input/model-context.js';
import { promptOf } from '../../tools/model-input/prompt.js';
import {
  askInForm,
  outputFormOf,
  requestedOutput,
  resultFormOf,
} from '../../tools/model-input/structured-output.js';
import { withFields } from '../../tools/shared/tool-logger.js';
import type { ScopedTools } from '../shared/deps.js';
import { failureOf, toFailure } from '../shared/failure.js';
import { withHeartbeat } from '../shared/heartbeat.js';
import { withListedTools } from '../shared/listed-tools.js';
import { awaitedAgent } from '../shared/other-workers.js';
import { modelFiles } from '../transcript/stored-results.js';
import { audited } from './audit.js';
import { cacheKeyOf, failedRequest } from './requests.js';
import { Spending } from './spending.js';

/**
 * | what happens | outcome |
 * |---|---|
 * | the model answers | the answer, beside the recorded step, and whether another step follows |
 * | the adapter throws a `ModelFailure` | failure of its code, retried as it says |
 * | the model answers nothing to a person | failure `model_empty_answer`, retried |
 * | the answers are larger than one payload | failure `model_answer_too_large` |
 * | the prompt is too long for the model | failure `model_context_too_long` |
 * | the agent or the model is not defined here | failure `unknown_agent` or `model_not_found`, retried |
 * | the log is gone, or is of another conversation | failure `unknown_conversation` |
 * | the store is unavailable | failure `store_unavailable`, retried |
 */
export async function whatIf(
  tools: ScopedTools,
  input: WhatIfStepInput,
): Promise<WhatIfStepResult> {
  const { tenant, conversationId, turnId, step, actor } = input;
  const agent = definitionFor(tools, input);
  const caller = {
    ...{ purpose: 'what_if' as const, tenant, conversationId, agent: agent.name },
    ...{ requester: actor, turnId, step },
  };
  const logger = withFields(tools.logger, { tenant, conversationId, turnId, step });
  const spending = new Spending(agent.model, { logger, caller });
  try {
    const { turn, response } = await withHeartbeat(
      async () => {
        const found = await recordedTurn(tools, input);
        return {
          turn: found,
          response: await asked(tools, input, { agent, turn: found, spending }),
        };
      },
      () => spending.details(),
    );
    spending.giveUp();
    return resultOf(input, turn, { response, spending });
  } catch (error) {
    throw failedRequest({ logger, spending, text: 'what-if failed' }, error);
  }
}

/** The agent of the request, with the instructions and the model that it names, and without tools of the provider. */
function definitionFor(tools: ScopedTools, input: WhatIfStepInput): AnyAgent {
  const agent = awaitedAgent(tools, input.agent);
  const { instructions = agent.instructions } = input;
  if (input.model === undefined) return { ...agent, instructions };
  const owner = [agent, ...tools.registry.agents].find(({ model }) => model.name === input.model);
  if (owner === undefined)
    throw failureOf('model_not_found', `No agent of this worker has a model "${input.model}"`, {
      retryable: true,
    });
  const maxTokens = Math.min(agent.context.maxTokens, owner.context.maxTokens);
  return { ...agent, instructions, model: owner.model, context: { ...agent.context, maxTokens } };
}

async function recordedTurn(tools: ScopedTools, input: WhatIfStepInput): Promise<RecordedTurn> {
  if (tools.recordedTurn === undefined)
    throw failureOf('store_unavailable', 'This worker reads no event log');
  let turn: RecordedTurn | undefined;
  try {
    turn = await tools.recordedTurn(input);
  } catch (error) {
    throw toFailure(error, 'store_unavailable');
  }
  if (turn?.startedAt === input.startedAt) return turn;
  throw failureOf(
    'unknown_conversation',
    `Conversation "${input.conversationId}" has no turn "${input.turnId}" (any more)`,
  );
}

interface Asking {
  readonly agent: AnyAgent;
  readonly turn: RecordedTurn;
  readonly spending: Spending;
}

async function asked(
  tools: ScopedTools,
  input: WhatIfStepInput,
  asking: Asking,
): Promise<ModelResponse> {
  const { turn } = asking;
  const listed = await withListedTools(tools, asking.agent);
  // The provider would run its own tools inside of the model call.
  const agent = { ...listed, tools: listed.tools.filter(({ provider }) => provider === undefined) };
  const { messages } = played(turn, input.earlier);
  const form = outputFormOf(agent, turn.output);
  const forms = { ...requestedOutput(agent, form), ...resultFormOf(agent) };
  const ask = (given: GivenContext): Promise<ModelResponse> =>
    generate(tools, input, { ...asking, agent, given, forms });
  const answer = await askInForm({
    ...{ agent, form, ask, askAgain: ask },
    messages: [...turn.before, ...messages],
    mark: turn.context,
    counting: tokenCounting,
    inspect: ({ calls, parts, model }) => {
      const isEmpty = calls.length === 0 && textOf(parts).trim() === '';
      if (isEmpty && messages.at(-1)?.role !== 'tool')
        throw failureOf('model_empty_answer', `Model "${model}" answered nothing`);
    },
    isTooLong: isContextTooLong,
  });
  if ('tooLong' in answer) throw failureOf('model_context_too_long', answer.tooLong);
  return answer.response;
}

/** Ends as soon as the activity is cancelled, even if the adapter ignores it. */
async function generate(
  tools: ScopedTools,
  input: WhatIfStepInput,
  {
    agent,
    spending,
    given,
    forms,
  }: Omit<Asking, 'turn'> & {
    readonly given: GivenContext;
    readonly forms: ReturnType<typeof requestedOutput> & ReturnType<typeof resultFormOf>;
  },
): Promise<ModelResponse> {
  const { cancellationSignal: signal, cancelled } = Context.current();
  signal.throwIfAborted();
  const { messages, tokens, stable } = given;
  const { system, tools: offered } = promptOf(agent);
  const cached = { stableMessages: stable, cacheKey: cacheKeyOf(input) };
  const request = { system, messages, tools: offered, ...forms, ...cached };
  const { tenant, conversationId, turnId, step } = input;
  const about = {
    ...{ tenant, conversationId, turnId, step, purpose: 'what_if' as const },
    ...{ agent: agent.name, feature: agent.feature, model: agent.model },
    attempt: spending.attempts.number,
  };
  return await spending.request({ promptTokens: tokens, messages }, (meter) => {
    const run = (): Promise<ModelResponse> => {
      const answer = agent.model.generate(request, {
        ...{ signal, caller: spending.caller },
        ...meter.options(),
        ...readOnly(modelFiles(tools, input).files),
      });
      answer.catch(() => undefined);
      return Promise.race([answer, cancelled]);
    };
    return audited(tools, about, { request, meter, run });
  });
}

/** Files that an answer brings are not stored. */
function readOnly(files: ModelFiles | undefined): { readonly files?: ModelFiles } {
  if (files === undefined) return {};
  return { files: { read: (ref) => files.read(ref), write: () => Promise.resolve(undefined) } };
}

function resultOf(
  input: WhatIfStepInput,
  turn: RecordedTurn,
  { response, spending }: { readonly response: ModelResponse; readonly spending: Spending },
): WhatIfStepResult {
  const { step, earlier } = input;
  const { parts, calls, model } = response;
  const made = calls.map(({ name, argumentsJson }, index) => ({
    ...{ type: 'tool_call' as const, name, argumentsJson },
    toolCallId: `what_if_${step}_${index + 1}`,
  }));
  const answer: WhatIfAnswer = { parts: [...parts, ...made] };
  const answers = [...earlier, answer];
  const bytes = utf8Bytes(JSON.stringify(answers));
  if (bytes > MAX_WHAT_IF_ANSWER_BYTES)
    throw failureOf(
      'model_answer_too_large',
      TEXTS.answerTooLarge(bytes, MAX_WHAT_IF_ANSWER_BYTES),
    );
  const { end } = played(turn, answers);
  return {
    answer,
    step: stepShown(turn, step, { ...answer, model, usage: spending.total }),
    ...(end === undefined ? {} : { end }),
  };
}

/**
 * One model call: assembles the prompt, streams, and returns the finished answer with a plan for every call in it. Safe
 * to repeat: a failed attempt leaves only live events, which the next one replaces by its higher number.
 */
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { AnswerForm } from '../../define/agent/output.js';
import type { AnyAgent } from '../../define/define-agent.js';
import { tokenCounting } from '../../model/shared/count-tokens.js';
import { isContextTooLong } from '../../model/shared/failure.js';
import type { PluginStates, StatePatch } from '../../protocol/calls/plugin-state.js';
import type { ModelContext, UsedDefinition } from '../../protocol/conversation/context.js';
import { type Message, resultsOfTurn, textOf } from '../../protocol/conversation/messages.js';
import { assistantMessageId } from '../../protocol/log/live-events.js';
import type {
  ModelCaller,
  ModelFiles,
  ModelRequest,
  ModelResponse,
} from '../../protocol/model/model.js';
import {
  type CallModelInput,
  type CallModelResult,
  providerResultsOf,
} from '../../protocol/workflow/activities.js';
import { TRANSCRIPT_MISS } from '../../protocol/workflow/transcript-delta.js';
import { modelDefinitionOf, usedDefinition } from '../../tools/model-input/definition.js';
import { answerTooLarge, partsWithin } from '../../tools/model-input/model-answer.js';
import type { GivenContext } from '../../tools/model-input/model-context.js';
import { promptOf } from '../../tools/model-input/prompt.js';
import {
  askInForm,
  type FormAnswer,
  outputFormOf,
  requestedOutput,
  resultFormOf,
  unusableForm,
} from '../../tools/model-input/structured-output.js';
import { planCalls } from '../../tools/plan/plan.js';
import { providerCallsOf } from '../../tools/plan/provider-calls.js';
import { CallWriters } from '../../tools/plugins/call-writers.js';
import { contextMessages, type Prepared } from '../../tools/plugins/prepare.js';
import { resultsWithValues } from '../../tools/plugins/result-values.js';
import type { PolicyDeps } from '../../tools/shared/policy.js';
import { policyDeps, type ScopedTools } from '../shared/deps.js';
import {
  agentOf,
  failureOf,
  framesOf,
  httpStatusOf,
  interruption,
  isCancelRequested,
  toFailure,
} from '../shared/failure.js';
import { withHeartbeat } from '../shared/heartbeat.js';
import { withListedTools, withMadeServers } from '../shared/listed-tools.js';
import { awaitedAgent } from '../shared/other-workers.js';
import { preparedStep } from '../shared/prepared.js';
import { runOf } from '../shared/transcripts.js';
import { modelFiles } from '../transcript/stored-results.js';
import { type AuditedCall, audited } from './audit.js';
import { type LiveOutputFields, liveOutputFields } from './live-output.js';
import type { ModelStream } from './model-stream.js';
import type { RequestMeter } from './request-meter.js';
import { cacheKeyOf, knownFailure } from './requests.js';
import { answerWithReads } from './run-reads.js';
import { Spending } from './spending.js';

/**
 * | what happens | outcome |
 * |---|---|
 * | the model answers | its parts, usage and the plans of its calls, with the results of the calls that ran here (`run-reads.ts`) |
 * | the turn is cancelled | `aborted`, with the text so far |
 * | the worker stops | failure `model_unavailable`, retried |
 * | the adapter throws a `ModelFailure` | failure of its code, retried as it says |
 * | text and calls are both missing, and no tool results came before | failure `model_empty_answer`, retried |
 * | the answer is larger than a conversation can hold | failure `model_answer_too_large`: the turn fails, the next continues |
 * | earlier messages of the transcript are not available | failure `transcript_miss`: the workflow sends everything |
 * | messages that a roll-over stored are lost from blob store and log | failure `transcript_lost`, retried |
 * | the prompt is too long for the model, or for the agent's budget | made smaller and sent again once; then failure `model_context_too_long` |
 * | a final answer does not match the requested form | requested once more; then the answer, with `outputProblem` |
 * | answers cannot be checked by the form that the message requests | failure `invalid_request`, before the model is called |
 * | `prepare` of a plugin fails | failure `plugin_failed`, retried; the model is not called |
 * | the agent is not defined here | failure `unknown_agent`, retried |
 */
export async function callModel(
  tools: ScopedTools,
  input: CallModelInput,
): Promise<CallModelResult> {
  const defined = awaitedAgent(tools, input.agent);
  const context = Context.current();
  const { turnId, step } = input;
  const spending = new Spending(
    defined.model,
    { logger: tools.logger, caller: callerOf(input) },
    input,
  );
  const { number: attempt } = spending.attempts;
  const origin = { turnId, step, attempt, messageId: assistantMessageId(turnId, step) };
  const shown = liveOutputFields(tools, input, origin);
  const { stream } = shown;
  stream.begin(defined.model.name);
  try {
    const { agent, messages, states, patches, request, ...answer } = await withHeartbeat(
      () => asked(tools, input, { shown, spending }),
      () => spending.details(),
    );
    if ('tooLong' in answer) throw failureOf('model_context_too_long', answer.tooLong);
    spending.giveUp();
    const { response } = answer;
    const { parts, finishReason, model } = response;
    const ran = providerCallsOf(response);
    const known = [...resultsOfTurn(messages, turnId), ...providerResultsOf(ran.providerCalls)];
    const deps = policyDeps(tools, { ...input, results: known }, states);
    const calls = await plansOf(agent, response, { deps, spending });
    const result = {
      ...{ parts, calls, ...ran, model, finishReason, ...takenOf(spending), attempt },
      context: { ...answer.context, ...request },
      ...formedOf(answer),
      ...(patches.length === 0 ? {} : { patches }),
    };
    const problem = answerTooLarge(result);
    if (problem !== undefined) throw failureOf('model_answer_too_large', problem);
    return await answerWithReads(tools, input, {
      ...{ agent, states, messages, outcome: result, stream },
      details: () => spending.details(),
    });
  } catch (error) {
    if (!context.cancellationSignal.aborted) {
      const failure = modelFailureOf(error);
      tools.logger.warn('model call failed', {
        ...origin,
        reason: failure.message,
        at: framesOf(error),
      });
      throw failed({ shown, spending }, failure, httpStatusOf(error));
    }
    if (!isCancelRequested(context))
      throw failed({ shown, spending }, interruption(context, 'model_unavailable'));
    spending.giveUp();
    return { ...abortedResult(defined, stream, attempt), ...takenOf(spending) };
  } finally {
    shown.end();
  }
}

/**
 * Records the failure for the workflow, the next attempt and watchers. A transcript miss is internal: watchers are not
 * notified of it.
 */
function failed(
  { shown, spending }: { readonly shown: LiveOutputFields; readonly spending: Spending },
  failure: Error,
  httpStatus?: number,
): Error {
  if (failure instanceof ApplicationFailure && failure.type !== TRANSCRIPT_MISS)
    shown.fail(spending.attempts.fail(failure, httpStatus));
  return spending.failed(failure);
}

function callerOf(input: CallModelInput): ModelCaller {
  const { tenant, conversationId, agent, requester, turnId, step } = input;
  return { tenant, conversationId, agent, requester, turnId, step };
}

/** The request, beside its answer. */
interface Asked {
  /** Without the tools that plugins have hidden. */
  readonly agent: AnyAgent;
  readonly messages: readonly Message[];
  /** States of the agent's plugins after `prepare`, and the changes that it made. */
  readonly states: PluginStates;
  readonly patches: readonly StatePatch[];
  /** The places in which the request can be looked up. */
  readonly request: Pick<ModelContext, 'definition' | 'audit'>;
}

/** Without plugins nothing is awaited. */
function unprepared(agent: AnyAgent): Prepared {
  return { agent, servers: [], context: [], patches: [], states: {} };
}

/** Returns the answer of the model, with the agent and the messages of the request. */
async function asked(
  tools: ScopedTools,
  input: CallModelInput,
  { shown, spending }: { readonly shown: LiveOutputFields; readonly spending: Spending },
): Promise<FormAnswer & Asked> {
  const { stream } = shown;
  const unusable = unusableForm(input.output);
  if (unusable !== undefined) throw failureOf('invalid_request', unusable);
  const defined = agentOf(tools, input.agent);
  const listed = await withListedTools(tools, defined);
  const run = runOf(Context.current());
  const messages = await tools.transcripts.whole(run, input.transcript);
  const prepared =
    listed.plugins === undefined
      ? unprepared(listed)
      : await preparedStep(tools, listed, {
          ...input,
          results: () => resultsWithValues(messages, input.turnId),
        });
  const { context, patches, states, servers } = prepared;
  const agent = await withMadeServers(tools, prepared.agent, { servers, tenant: input.tenant });
  passArguments(tools, input, { agent, states, shown, attempt: spending.attempts.number });
  const form = outputFormOf(agent, input.output);
  const cacheKey = cacheKeyOf(input);
  const added = contextMessages(context, input);
  const deps = { form, spending, cacheKey, added, ...modelFiles(tools, input) };
  const { tenant, conversationId, turnId, step } = input;
  const about = {
    ...{ tenant, conversationId, turnId, step, attempt: spending.attempts.number },
    ...{ agent: agent.name, feature: agent.feature, model: agent.model },
  };
  let audit: string | undefined;
  const askedFor = (purpose: AuditedCall['purpose']): Pick<GenerateDeps, 'caller' | 'keep'> => ({
    caller: { ...spending.caller, purpose },
    keep: (request, asking) => {
      const onStored = (id: string): void => {
        if (purpose === 'answer') audit = id;
      };
      return audited(tools, { purpose, ...about }, { request, ...asking, onStored });
    },
  });
  const definition = keptDefinition(tools, { defined, called: agent, tenant });
  const answer = await askInForm({
    agent,
    messages,
    mark: input.context,
    heldBytes: input.heldBytes,
    counting: tokenCounting,
    form,
    ask: (given) => generate(agent, given, { ...deps, stream, ...askedFor('answer') }),
    // Watchers have seen the first answer; the second one is in the message that replaces it.
    askAgain: (given) => generate(agent, given, { ...deps, ...askedFor('correction') }),
    inspect: (response) => {
      failIfEmpty(response, messages.at(-1)?.role);
    },
    isTooLong: isContextTooLong,
  });
  const request = { definition, ...(audit === undefined ? {} : { audit }) };
  return { ...answer, agent, messages, states, patches, request };
}

/** Has the definition kept where readers find it, and names it for the log. */
function keptDefinition(
  { inCode, keepDefinition }: ScopedTools,
  {
    defined,
    called,
    tenant,
  }: { readonly defined: AnyAgent; readonly called: AnyAgent; readonly tenant: string },
): UsedDefinition {
  const { name } = defined;
  const { digest, definition } = modelDefinitionOf(defined);
  const owner = inCode.agent(name) === undefined ? { tenant } : {};
  keepDefinition?.({ ...owner, agent: name, digest }, definition);
  return usedDefinition(defined, called);
}

/** Lets the agent's plugins see the arguments of calls as the model writes them. */
function passArguments(
  tools: ScopedTools,
  key: CallModelInput,
  {
    agent,
    states,
    shown,
    attempt,
  }: Pick<Asked, 'agent' | 'states'> & {
    readonly shown: LiveOutputFields;
    readonly attempt: number;
  },
): void {
  if (agent.plugins === undefined) return;
  const { services, ports, logger } = tools;
  const step = { turnId: key.turnId, step: key.step, attempt };
  const writers = new CallWriters({ agent, states, step, key, services, ports, logger });
  if (!writers.isEmpty) shown.passTo(writers);
}

/**
 * Plans the calls of the answer. A policy may do look-ups, so a cancel must not wait for it, and heartbeats must
 * continue.
 */
async function plansOf(
  agent: AnyAgent,
  { calls }: ModelResponse,
  { deps, spending }: { readonly deps: PolicyDeps; readonly spending: Spending },
): Promise<CallModelResult['calls']> {
  const planning = planCalls({ agent, calls, deps });
  return withHeartbeat(
    () => Promise.race([planning, Context.current().cancelled]),
    () => spending.details(),
  );
}

/** The answer in its form, or why it has none. */
function formedOf({
  output,
  outputProblem,
}: Pick<CallModelResult, 'output' | 'outputProblem'>): Pick<
  CallModelResult,
  'output' | 'outputProblem'
> {
  return {
    ...(output === undefined ? {} : { output }),
    ...(outputProblem === undefined ? {} : { outputProblem }),
  };
}

/** Usage and failed attempts of the outcome, with or without an answer. */
function takenOf({
  own,
  earlier,
  attempts: { failed },
}: Spending): Pick<CallModelResult, 'usage' | 'earlierUsage' | 'failedAttempts'> {
  return {
    usage: own,
    ...(earlier === undefined ? {} : { earlierUsage: earlier }),
    ...(failed.length === 0 ? {} : { failedAttempts: failed }),
  };
}

/**
 * After tool results a model may have nothing to add; as an answer to a person, an empty text is a fault. Calls that
 * the provider has run make the answer non-empty: a repeated request would run them again.
 */
function isEmpty({ calls, parts, providerCalls = [] }: ModelResponse): boolean {
  return calls.length === 0 && providerCalls.length === 0 && textOf(parts).trim() === '';
}

interface GenerateDeps {
  /** Absent when the request has no watchers. */
  readonly stream?: ModelStream;
  readonly files?: ModelFiles;
  readonly form: AnswerForm | undefined;
  readonly spending: Spending;
  readonly cacheKey: string;
  /** Messages of plugins behind the conversation. */
  readonly added: readonly Message[];
  readonly caller: ModelCaller;
  /** Runs the request and keeps the record that the worker is configured for. */
  readonly keep: (
    request: ModelRequest,
    asking: { readonly run: () => Promise<ModelResponse>; readonly meter: RequestMeter },
  ) => Promise<ModelResponse>;
}

/** @throws failure model_empty_answer */
function failIfEmpty(response: ModelResponse, after: Message['role'] | undefined): void {
  if (isEmpty(response) && after !== 'tool')
    throw failureOf('model_empty_answer', `Model "${response.model}" answered nothing`);
}

/** Ends as soon as the signal fires, even if the adapter ignores it: a cancel must not wait for a provider. */
async function generate(
  agent: AnyAgent,
  { messages, stable, tokens }: GivenContext,
  { stream, files, form, spending, cacheKey, added, caller, keep }: GenerateDeps,
): Promise<ModelResponse> {
  const { cancellationSignal, cancelled } = Context.current();
  cancellationSignal.throwIfAborted();
  const { system, tools } = promptOf(agent);
  const cached = { stableMessages: stable, cacheKey };
  const given = [...messages, ...added];
  const forms = { ...requestedOutput(agent, form), ...resultFormOf(agent) };
  const request = { system, messages: given, tools, ...forms, ...cached };
  return spending.request({ promptTokens: tokens, messages: given }, (meter) => {
    const run = (): Promise<ModelResponse> => {
      const answer = agent.model.generate(request, {
        signal: cancellationSignal,
        caller,
        ...meter.options((event) => {
          stream?.take(event);
        }),
        ...(files === undefined ? {} : { files }),
      });
      // After a cancel has won the race, this promise may still reject.
      answer.catch(() => undefined);
      return Promise.race([answer, cancelled]);
    };
    return keep(request, { run, meter });
  });
}

/** Replaces the texts of errors that no adapter made: some quote headers, and the text goes into history. */
function modelFailureOf(error: unknown): Error {
  return toFailure(knownFailure(error), 'model_unavailable');
}

/** The partial output of a cancelled turn. */
function abortedResult(
  agent: AnyAgent,
  stream: ModelStream,
  attempt: number,
): Omit<CallModelResult, 'usage' | 'earlierUsage'> {
  return {
    parts: partsWithin(stream.partsSoFar()),
    calls: [],
    model: agent.model.name,
    finishReason: 'cancelled',
    attempt,
    aborted: true,
  };
}

/** The activities for single calls, without Temporal: plans, runs and checks of a test conversation. */
import { entryOf } from '../../core/calls/ask.js';
import type { CallState, ConversationState } from '../../core/state/state.js';
import type { Tool } from '../../define/tool/types.js';
import type { AnswerOffer, CheckDefinitionResult } from '../../protocol/calls/definitions.js';
import type { PlannedCall } from '../../protocol/calls/plan.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import { idempotencyKeyFor } from '../../protocol/values/ids.js';
import type {
  CheckAnswerResult,
  CheckEditResult,
  PreflightToolResult,
  ReconcileToolResult,
  RunToolResult,
} from '../../protocol/workflow/activities.js';
import { checkAnswer, checkForm, goneTool } from '../../tools/definition/answers.js';
import { checkCall, offerOf } from '../../tools/definition/check.js';
import { checkEdit } from '../../tools/definition/edits.js';
import { judgeInput } from '../../tools/definition/judge.js';
import { planCalls } from '../../tools/plan/plan.js';
import { preflightToolCall } from '../../tools/run/preflight.js';
import { reconcileToolCall } from '../../tools/run/reconcile.js';
import { runToolCall } from '../../tools/run/run.js';
import type { ToolRun } from '../../tools/run/tool-run.js';
import { entryFields } from '../../tools/shared/entry.js';
import { toolLogger } from '../../tools/shared/tool-logger.js';
import { type LocalDeps, policyDepsOf, requesterOf } from './local-deps.js';
import { LocalResults } from './local-results.js';

/** The same as the engine's. */
const MAX_RECONCILE_ATTEMPTS = 5;

export class LocalWork<Services> {
  readonly #local: LocalDeps<Services>;
  readonly #results: LocalResults;

  constructor(local: LocalDeps<Services>) {
    this.#local = local;
    this.#results = new LocalResults(local.agent);
  }

  /** Plans a call of a sequential step, when its turn has come. */
  async planCall(state: ConversationState, toolCallId: string): Promise<PlannedCall> {
    const call = callOf(state, toolCallId);
    const { name, unplanned } = call.plan;
    const [planned] = await planCalls({
      agent: this.#local.agent,
      calls: [{ id: toolCallId, name, argumentsJson: unplanned?.argumentsJson ?? '' }],
      deps: policyDepsOf(this.#local, state, call),
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
    const { run = 1 } = entryOf(call);
    const tool = this.#toolOf(call);
    if (tool === undefined) {
      const message = TEXTS.noLongerAvailable(call.plan.name);
      return { envelope: { ok: false, error: { code: 'not_available', message } }, executionMs: 0 };
    }
    const judged = await judgeInput(tool, plannedInput(call));
    if (!judged.runs && run === 1) return { changed: { definition: judged.definition } };
    if (!judged.runs) {
      const message = TEXTS.definitionChangedInFlight(call.plan.name);
      const error = { code: 'outcome_unknown', message } as const;
      return { envelope: { ok: false, error }, executionMs: 0 };
    }
    for (let attempt = 1; ; attempt += 1) {
      const end = await runToolCall({
        ...this.#runOf(state, call, attempt),
        tool,
        signal,
      });
      if (!('envelope' in end)) return { ...end, executionMs: 0 };
      const { envelope, retry } = end;
      // The pauses that a tool requests are skipped, and no real milliseconds recorded, which would make logs differ
      // from run to run.
      const { effects, maxAttempts } = call.plan;
      if (retry === undefined || effects === 'once' || attempt >= maxAttempts)
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
    const judged = await judgeInput(tool, plannedInput(call));
    if (!judged.runs) return { ok: false, changed: { definition: judged.definition } };
    return preflightToolCall({ ...this.#runOf(state, call, 1), tool });
  }

  /** Checks a call against the present definition. */
  async checkDefinition(
    state: ConversationState,
    toolCallId: string,
    signal: AbortSignal,
  ): Promise<CheckDefinitionResult> {
    const call = callOf(state, toolCallId);
    const { name } = call.plan;
    const tool = this.#toolOf(call);
    if (tool === undefined) {
      const message = TEXTS.noLongerAvailable(name);
      return { outcome: 'ended', error: { code: 'not_available', message } };
    }
    const deps = policyDepsOf(this.#local, state, call);
    const planned = { toolCallId, name, ...plannedInput(call) };
    return checkCall({ agent: this.#local.agent, tool, call: planned, deps, signal });
  }

  /** The offer of a call by the present definition; undefined where the agent does not have its tool. */
  offerOf(name: string): AnswerOffer | undefined {
    const tool = this.#local.agent.tools.find((it) => it.name === name);
    return tool === undefined ? undefined : offerOf(tool);
  }

  async reconcileTool(state: ConversationState, toolCallId: string): Promise<ReconcileToolResult> {
    const call = callOf(state, toolCallId);
    const tool = this.#toolOf(call);
    if (tool === undefined)
      return { outcome: 'unknown', reason: TEXTS.noLongerAvailable(call.plan.name) };
    const judged = await judgeInput(tool, plannedInput(call));
    if (!judged.runs)
      return { outcome: 'unknown', reason: TEXTS.definitionChangedInFlight(call.plan.name) };
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
    const { ask, plan } = call;
    if (ask !== undefined) return checkForm(ask.question.form, value);
    if (tool === undefined) return { ok: false, ended: goneTool(plan.name) };
    return checkAnswer({ tool, value, answerDefinition: plan.answerDefinition });
  }

  #runOf(state: ConversationState, call: CallState, attempt: number): Omit<ToolRun, 'tool'> {
    const { plan, turnId, step, approver } = call;
    const { toolCallId, input, timeouts } = plan;
    const { conversationId } = state;
    const entry = entryOf(call);
    return {
      large: this.#results,
      answer: entry.asked?.answer,
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
        requester: requesterOf(state, call),
        ...(approver === undefined ? {} : { approver }),
        ...entryFields(entry),
        attempt,
        progress: () => undefined,
        services: this.#local.services as never,
        storedResults: this.#results,
        logger: toolLogger(this.#local.logger, plan.name, { conversationId, turnId, toolCallId }),
      },
    };
  }

  async checkEdit(state: ConversationState, toolCallId: string): Promise<CheckEditResult> {
    const call = callOf(state, toolCallId);
    const tool = this.#toolOf(call);
    const input = call.edit?.input ?? null;
    if (tool === undefined) {
      return { ok: false, ended: goneTool(call.plan.name) };
    }
    const deps = policyDepsOf(this.#local, state, call);
    return checkEdit({ agent: this.#local.agent, tool, toolCallId, input, deps });
  }

  #toolOf(call: CallState): Tool<Services> | undefined {
    return this.#local.agent.tools.find((tool) => tool.name === call.plan.name);
  }
}

function plannedInput({ plan }: CallState) {
  const { executor, raw, definition, input = null } = plan;
  return {
    ...{ executor, input },
    ...(raw === undefined ? {} : { raw }),
    ...(definition === undefined ? {} : { definition }),
  };
}

function callOf(state: ConversationState, toolCallId: string): CallState {
  const call = state.calls[toolCallId];
  if (call === undefined) throw new Error(`no open call "${toolCallId}"`);
  return call;
}

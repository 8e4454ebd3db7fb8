/** The activities of a test conversation: plans, runs and checks of its calls, and its requests to the model. */
import type { InputOf, ResultOf } from '../../core/work/row.js';
import { portAccess } from '../../define/tool/ports.js';
import type { AnyTool } from '../../define/tool/types.js';
import type { AnswerOffer } from '../../protocol/calls/definitions.js';
import type { PlannedCall } from '../../protocol/calls/plan.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import type { RunToolInput } from '../../protocol/workflow/activities.js';
import { checkAnswer, checkForm, goneTool } from '../../tools/definition/answers.js';
import { checkCall, offerOf } from '../../tools/definition/check.js';
import { checkEdit } from '../../tools/definition/edits.js';
import { judgeInput } from '../../tools/definition/judge.js';
import { goneCall, planCalls } from '../../tools/plan/plan.js';
import { refused, SeenRun } from '../../tools/plugins/call-hooks.js';
import { PluginFailed } from '../../tools/plugins/lifecycle.js';
import { preflightToolCall } from '../../tools/run/preflight.js';
import { reconcileToolCall } from '../../tools/run/reconcile.js';
import { runToolCall, type ToolRunEnd } from '../../tools/run/run.js';
import type { ToolRun } from '../../tools/run/tool-run.js';
import type { CallScope } from '../../tools/scope/call-scope.js';
import { rerunContext } from '../../tools/shared/entry.js';
import { accessTo, StateView } from '../../tools/shared/state-view.js';
import { toolLogger } from '../../tools/shared/tool-logger.js';
import { triggerIds } from '../../tools/shared/trigger-ids.js';
import type { LocalActivities } from './local-activities.js';
import { agentNamed, type LocalDeps, localTool, policyDepsOf } from './local-deps.js';
import { LocalModel } from './local-model.js';
import { LocalResults } from './local-results.js';
import type { RecordedResult } from './test-options.js';

/** The same as the engine's. */
const MAX_RECONCILE_ATTEMPTS = 5;

interface LocalRun {
  readonly attempt: number;
  readonly scope: CallScope;
  readonly only?: 'preflight' | 'reconcile';
}

export class LocalWork<Services> implements LocalActivities {
  readonly callModel: LocalActivities['callModel'];
  readonly summarize: LocalActivities['summarize'];
  readonly #local: LocalDeps<Services>;
  readonly #results: LocalResults;

  constructor(local: LocalDeps<Services>) {
    this.#local = local;
    this.#results = new LocalResults(local.agent);
    const model = new LocalModel(local);
    this.callModel = (input, signal) => model.callModel(input, signal);
    this.summarize = (input, signal) => model.summarize(input, signal);
  }

  /** Plans a call of a sequential step, when its turn has come. */
  async planCall(input: InputOf<'planCall'>): Promise<PlannedCall> {
    const { toolCallId, name, argumentsJson } = input.call;
    const agent = agentNamed(this.#local, input.agent);
    const made = input.made === undefined ? undefined : await this.#toolOf(input, name);
    if (input.made !== undefined && made === undefined) return goneCall(input.call, goneTool(name));
    const [planned] = await planCalls({
      agent: made === undefined ? agent : { ...agent, tools: [...agent.tools, made] },
      calls: [{ id: toolCallId, name, argumentsJson }],
      deps: policyDepsOf(this.#local, input),
    });
    if (planned === undefined) throw new TypeError('unreachable: one call has one plan');
    return planned.plan;
  }

  /** @throws the reason of `signal` once that fires */
  async runTool(input: RunToolInput, signal: AbortSignal): Promise<ResultOf<'runTool'>> {
    const { call, run = 1 } = input;
    const tool = await this.#toolOf(input, call.name);
    if (tool === undefined) {
      const message = TEXTS.noLongerAvailable(call.name);
      return { envelope: { ok: false, error: { code: 'not_available', message } }, executionMs: 0 };
    }
    const judged = await judgeInput(tool, { ...call, executor: 'server' });
    if (!judged.runs && run === 1) return { changed: { definition: judged.definition } };
    if (!judged.runs) {
      const message = TEXTS.definitionChangedInFlight(call.name);
      const error = { code: 'outcome_unknown', message } as const;
      return { envelope: { ok: false, error }, executionMs: 0 };
    }
    const { recorded } = this.#local;
    if (recorded !== undefined) return recordedEnd(recorded[call.toolCallId], call);
    for (let attempt = 1; ; attempt += 1) {
      const end = await this.#inScope(input, (scope) =>
        this.#runSeen({ ...this.#runOf(input, { attempt, scope }), tool, signal }, input, attempt),
      );
      if (!('envelope' in end)) return { ...end, executionMs: 0 };
      const { envelope, retry, patches } = end;
      // The pauses that a tool requests are skipped, and no real milliseconds recorded, which would make logs differ
      // from run to run.
      if (retry === undefined || isLastAttempt(input, attempt))
        return { envelope, executionMs: 0, ...(patches === undefined ? {} : { patches }) };
    }
  }

  /** One attempt, which the plugins of the agent see. */
  async #runSeen(
    run: ToolRun,
    { agent, call }: RunToolInput,
    attempt: number,
  ): Promise<ToolRunEnd> {
    const { plugins } = agentNamed(this.#local, agent);
    const seen = new SeenRun({ ...run, plugins });
    try {
      const refusal = await seen.begins();
      if (refusal !== undefined) return { envelope: refused(refusal), executionMs: 0 };
    } catch (error) {
      if (!(error instanceof PluginFailed)) throw error;
      const { message } = error;
      return { envelope: { ok: false, error: { code: 'not_available', message } }, executionMs: 0 };
    }
    const end = await runToolCall(run);
    if ('ask' in end) await seen.ends({ asked: true });
    else if ('envelope' in end && (end.retry === undefined || isLastAttempt({ call }, attempt)))
      await seen.ends(end);
    return end;
  }

  /** A scope for one run of a tool's code, as workers give it. */
  async #inScope<Result>(
    { tenant, requester }: RunToolInput,
    run: (scope: CallScope) => Promise<Result>,
  ): Promise<Result> {
    const scope = await this.#local.scopes.open({ tenant, user: requester });
    try {
      return scope.clean(await run(scope));
    } catch (error) {
      throw scope.cleanError(error);
    } finally {
      scope.release();
    }
  }

  async startChild(input: InputOf<'startChild'>): Promise<ResultOf<'startChild'>> {
    const { children } = this.#local;
    if (children === undefined) throw new TypeError('unreachable: every conversation has children');
    return await children.start(input);
  }

  async stopChild(input: InputOf<'stopChild'>): Promise<ResultOf<'stopChild'>> {
    return (await this.#local.children?.stop(input)) ?? { running: false };
  }

  async preflightTool(input: RunToolInput): Promise<ResultOf<'preflightTool'>> {
    const { call } = input;
    const tool = await this.#toolOf(input, call.name);
    if (tool === undefined) {
      const message = TEXTS.noLongerAvailable(call.name);
      return { ok: false, error: { code: 'not_available', message } };
    }
    const judged = await judgeInput(tool, { ...call, executor: 'client' });
    if (!judged.runs) return { ok: false, changed: { definition: judged.definition } };
    return await this.#inScope(input, (scope) =>
      preflightToolCall({ ...this.#runOf(input, { attempt: 1, scope, only: 'preflight' }), tool }),
    );
  }

  async reconcileTool(input: RunToolInput): Promise<ResultOf<'reconcileTool'>> {
    const { call } = input;
    const tool = await this.#toolOf(input, call.name);
    if (tool === undefined)
      return { outcome: 'unknown', reason: TEXTS.noLongerAvailable(call.name) };
    const judged = await judgeInput(tool, { ...call, executor: 'server' });
    if (!judged.runs)
      return { outcome: 'unknown', reason: TEXTS.definitionChangedInFlight(call.name) };
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#inScope(input, (scope) =>
          reconcileToolCall({ ...this.#runOf(input, { attempt, scope, only: 'reconcile' }), tool }),
        );
      } catch (error) {
        if (attempt < MAX_RECONCILE_ATTEMPTS) continue;
        return { outcome: 'unknown', reason: String(error) };
      }
    }
  }

  async checkAnswer(input: InputOf<'checkAnswer'>): Promise<ResultOf<'checkAnswer'>> {
    const { name, value, form, answerDefinition } = input;
    if (form !== undefined) return checkForm(form, value);
    const tool = await this.#toolOf(input, name);
    if (tool === undefined) return { ok: false, ended: goneTool(name) };
    return checkAnswer({ tool, value, answerDefinition });
  }

  async checkEdit(input: InputOf<'checkEdit'>): Promise<ResultOf<'checkEdit'>> {
    const { name, toolCallId, input: edited } = input;
    const tool = await this.#toolOf(input, name);
    if (tool === undefined) return { ok: false, ended: goneTool(name) };
    const deps = policyDepsOf(this.#local, input);
    return checkEdit({
      agent: agentNamed(this.#local, input.agent),
      tool,
      toolCallId,
      input: edited,
      deps,
    });
  }

  /** Checks a call against the present definition. */
  async checkDefinition(
    input: InputOf<'checkDefinition'>,
    signal: AbortSignal,
  ): Promise<ResultOf<'checkDefinition'>> {
    const { call } = input;
    const tool = await this.#toolOf(input, call.name);
    if (tool === undefined) {
      const message = TEXTS.noLongerAvailable(call.name);
      return { outcome: 'ended', error: { code: 'not_available', message } };
    }
    const deps = policyDepsOf(this.#local, input);
    return checkCall({ agent: agentNamed(this.#local, input.agent), tool, call, deps, signal });
  }

  /** The offer of a call by the present definition; undefined where the agent does not have its tool. */
  offerOf(agent: string, name: string): AnswerOffer | undefined {
    const tool = agentNamed(this.#local, agent).tools.find((each) => each.name === name);
    return tool === undefined ? undefined : offerOf(tool);
  }

  #runOf(input: RunToolInput, { attempt, scope, only }: LocalRun): Omit<ToolRun, 'tool'> {
    const { tenant, conversationId, agent, turnId, step, call, approver } = input;
    const { toolCallId, name } = call;
    const states = new StateView(
      agentNamed(this.#local, agent).plugins ?? [],
      this.#local.states(),
    );
    return {
      large: this.#results,
      states,
      redactor: scope.redactor,
      answer: input.asked?.answer,
      input: call.input,
      signal: new AbortController().signal,
      timeoutMs: call.timeouts.runMs,
      ctx: {
        ...{ agent, tenant, conversationId, turnId, step, toolCallId },
        idempotencyKey: input.idempotencyKey,
        requester: input.requester,
        ...(approver === undefined ? {} : { approver }),
        ...rerunContext(input),
        attempt,
        progress: () => undefined,
        services: this.#local.services as never,
        secret: scope.secret,
        connection: scope.connection,
        storedResults: this.#results,
        ...portAccess(this.#local.ports),
        triggers: this.#local.triggers.by({
          madeBy: 'agent',
          createdBy: input.requester,
          nextId: triggerIds(input.idempotencyKey),
        }),
        ...accessTo(states, only),
        logger: toolLogger(scope.cleanLogger(this.#local.logger), name, {
          conversationId,
          turnId,
          toolCallId,
        }),
      },
    };
  }

  #toolOf(
    input: Pick<RunToolInput, 'agent' | 'made' | 'tenant' | 'conversationId'>,
    name: string,
  ): Promise<AnyTool | undefined> {
    const { agent, made, tenant, conversationId } = input;
    return localTool(this.#local, { agent, name, made, tenant, conversationId });
  }
}

function isLastAttempt({ call }: Pick<RunToolInput, 'call'>, attempt: number): boolean {
  return call.effects === 'once' || attempt >= call.maxAttempts;
}

function recordedEnd(
  recorded: RecordedResult | undefined,
  { toolCallId, name }: Pick<PlannedCall, 'toolCallId' | 'name'>,
): ResultOf<'runTool'> {
  if (recorded !== undefined) return { ...recorded, executionMs: 0 };
  const message = `no result is recorded for call "${toolCallId}" of ${name}`;
  return { envelope: { ok: false, error: { code: 'tool_error', message } }, executionMs: 0 };
}

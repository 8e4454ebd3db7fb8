/**
 * Decides whether a call may run: joins the tool's gate and policy and the agent's policy to one outcome that the plan
 * pins. Fails closed: after a policy that throws, takes too long or returns an invalid decision, the call does not run.
 * Runs in the worker.
 */

import { audienceOf, checkAudience } from '../../define/checks/audience.js';
import { ProblemList } from '../../define/checks/problems.js';
import type { AnyAgent } from '../../define/define-agent.js';
import type { Logger } from '../../define/tool/context.js';
import type { PolicyCall, PolicyContext } from '../../define/tool/policy.js';
import type { PluginRef } from '../../define/tool/state-access.js';
import type { AnyTool } from '../../define/tool/types.js';
import { rowOf } from '../../protocol/calls/executors.js';
import type { ApprovalPlan } from '../../protocol/calls/plan.js';
import type { PluginStates } from '../../protocol/calls/plugin-state.js';
import type { ToolResultError } from '../../protocol/calls/results.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import { MAX_REASON_CHARS } from '../../protocol/limits/limits.js';
import { POLICY_TIMEOUT_MS } from '../../protocol/limits/service-limits.js';
import type { Audience } from '../../protocol/values/audience.js';
import { isRecord, type Json } from '../../protocol/values/json.js';
import { cutText } from '../../protocol/values/well-formed.js';
import { joinAudiences } from './join-audiences.js';
import { StateView } from './state-view.js';
import { logException, type ToolPhase, toolLogger } from './tool-logger.js';

/** The context of a policy without the call: the requester, and the worker's services. */
export type PolicyDeps = Omit<PolicyContext<never>, 'getState' | 'toolCallId' | 'logger'> & {
  readonly logger: Logger;
  readonly states: PluginStates;
  /** Time limit of each policy in milliseconds. @defaultValue POLICY_TIMEOUT_MS */
  readonly timeoutMs?: number;
};

export interface PolicyQuestion {
  readonly agent: AnyAgent;
  readonly tool: AnyTool;
  readonly toolCallId: string;
  /** The validated input; each policy gets its own copy. */
  readonly input: Json;
  readonly deps: PolicyDeps;
}

export type PolicyOutcome =
  | { readonly ok: true; readonly approval: ApprovalPlan; readonly answerAudience?: Audience }
  | { readonly ok: false; readonly error: ToolResultError };

type Decision =
  | { readonly type: 'allow' }
  | { readonly type: 'ask'; readonly reason?: string; readonly audience?: Audience }
  | { readonly type: 'deny'; readonly reason: string }
  | { readonly type: 'failed' };
type Ask = Extract<Decision, { type: 'ask' }>;

/** Runs every policy. Has no effects of its own. Never throws. */
export async function decidePolicies(question: PolicyQuestion): Promise<PolicyOutcome> {
  const { agent, tool, input } = question;
  const { policy } = tool;
  const { toolPolicy } = agent;
  const decisions = await Promise.all([
    // The reason of the tool's own code comes first in the text for the approver.
    policy === undefined
      ? staticDecision(tool)
      : evaluate(question, 'approval', (ctx) => policy(structuredClone(input), ctx)),
    toolPolicy === undefined
      ? ALLOW
      : evaluate(question, 'toolPolicy', (ctx) => toolPolicy(policyCall(tool, input), ctx)),
  ]);
  return joined(question, decisions);
}

/** A call in the form that policies over several tools receive. */
export function policyCall({ name, executor, effects, mcp }: AnyTool, input: Json): PolicyCall {
  const call = { name, executor, effects, input: structuredClone(input) };
  if (mcp === undefined) return call;
  const { ref, annotations } = mcp;
  return { ...call, mcpServer: ref.server, annotations: structuredClone(annotations) };
}

const ALLOW: Decision = { type: 'allow' };

function staticDecision({ approval }: AnyTool): Decision {
  if (!approval.needed) return ALLOW;
  const { needed: _asks, ...ask } = approval;
  return { type: 'ask', ...ask };
}

async function evaluate(
  question: PolicyQuestion,
  phase: ToolPhase,
  decide: (ctx: PolicyContext<never>) => unknown,
): Promise<Decision> {
  const { agent, deps, toolCallId, tool } = question;
  const { timeoutMs = POLICY_TIMEOUT_MS, states, ...rest } = deps;
  const { logger, conversationId, turnId } = rest;
  const call = { conversationId, turnId, toolCallId };
  const results = structuredClone(rest.results);
  const view = new StateView(agent.plugins ?? [], states);
  const ctx = Object.freeze({
    ...rest,
    results,
    toolCallId,
    getState: (plugin: PluginRef | string) => view.getState(plugin),
    logger: toolLogger(logger, tool.name, call),
  });
  const clock = startClock(timeoutMs);
  try {
    // In a promise of its own, so that code that throws synchronously is handled alike.
    const decided = Promise.resolve().then(() => decide(ctx));
    // The policy may fail after the timeout; that rejection must not count as unhandled.
    decided.catch(() => undefined);
    return decisionOf(await Promise.race([decided, clock.over]));
  } catch (error) {
    logException({ logger, name: tool.name, phase }, call, error);
    return { type: 'failed' };
  } finally {
    clock.stop();
  }
}

function startClock(timeoutMs: number): { readonly over: Promise<never>; stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`no decision within ${timeoutMs}ms`));
    }, timeoutMs);
  });
  return {
    over,
    stop: () => {
      clearTimeout(timer);
    },
  };
}

/** @throws for any value that is not exactly one decision: an unknown value must not count as consent. */
function decisionOf(value: unknown): Decision {
  if (value === 'allow') return ALLOW;
  const [field, ...others] = isRecord(value) ? Object.keys(value) : [];
  if (!isRecord(value) || others.length > 0 || (field !== 'ask' && field !== 'deny'))
    throw new TypeError('a policy must return "allow", {ask: {...}} or {deny: "reason"}');
  const given = value[field];
  if (field === 'ask') return askOf(given);
  if (typeof given !== 'string') throw new TypeError('the reason of {deny} must be a text');
  const reason = given.trim() === '' ? TEXTS.deniedByPolicy : given;
  return { type: 'deny', reason: cutText(reason, MAX_REASON_CHARS) };
}

function askOf(ask: unknown): Ask {
  if (!isRecord(ask)) throw new TypeError('{ask} must be an object such as {reason}');
  const unknownField = Object.keys(ask).find((key) => key !== 'reason' && key !== 'audience');
  if (unknownField !== undefined) throw new TypeError(`{ask} has no field "${unknownField}"`);
  const { reason, audience } = ask;
  if (reason !== undefined && typeof reason !== 'string')
    throw new TypeError('the reason of {ask} must be a text');
  if (audience !== undefined) {
    const problems = new ProblemList();
    checkAudience(audience, 'ask.audience', problems);
    problems.throwIfAny('an approval');
  }
  return {
    type: 'ask',
    ...(reason === undefined ? {} : { reason: cutText(reason, MAX_REASON_CHARS) }),
    ...(isRecord(audience) ? { audience: audienceOf(audience) } : {}),
  };
}

/** The strictest decision; reasons and audiences of several that ask are joined. */
function joined(question: PolicyQuestion, decisions: readonly Decision[]): PolicyOutcome {
  const { tool } = question;
  const denied = decisions.find((decision) => decision.type === 'deny');
  if (denied !== undefined) return { ok: false, error: { code: 'denied', message: denied.reason } };
  if (decisions.some(({ type }) => type === 'failed')) return failed(tool);
  const asks = decisions.filter((decision) => decision.type === 'ask');
  if (asks.length === 0) return { ok: true, approval: { needed: false }, ...answererOf(tool) };
  const reasons = [
    ...new Set(asks.flatMap(({ reason }) => (reason === undefined ? [] : [reason]))),
  ];
  const audiences = asks.map(({ audience }) => audience);
  const gated = rowOf(tool.executor).mayBeGated;
  const audience = joinAudiences(gated ? audiences : [tool.audience, ...audiences]);
  if (audience === 'none') {
    question.deps.logger.warn('policies leave no possible approver; the call does not run', {
      tool: tool.name,
    });
    return failed(tool);
  }
  const who = audience === undefined ? {} : { audience };
  if (!gated)
    return {
      ok: true,
      approval: { needed: false },
      ...(audience === undefined ? {} : { answerAudience: audience }),
    };
  const reason = cutText(reasons.join('; '), MAX_REASON_CHARS);
  const approval = { needed: true as const, ...(reason === '' ? {} : { reason }), ...who };
  return { ok: true, approval, ...answererOf(tool) };
}

function answererOf({ audience }: AnyTool): { answerAudience?: Audience } {
  return audience === undefined ? {} : { answerAudience: audience };
}

/** The model gets no details: the error of a policy may quote data that it looked up. */
function failed(tool: AnyTool): PolicyOutcome {
  return { ok: false, error: { code: 'policy_error', message: TEXTS.policyError(tool.name) } };
}

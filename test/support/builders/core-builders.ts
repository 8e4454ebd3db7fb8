/** Builders for tests of the core: settings, planned calls, model outcomes, actors, a virtual clock. No Temporal, no time. */

import type { CheckDefinitionResult } from '../../../src/protocol/calls/definitions.js';
import type { Executor } from '../../../src/protocol/calls/executors.js';
import type { PlannedCall } from '../../../src/protocol/calls/plan.js';
import type { Resolution } from '../../../src/protocol/calls/resolutions.js';
import type { AgentSettings } from '../../../src/protocol/conversation/agents.js';
import type { ConversationStarted } from '../../../src/protocol/log/events.js';
import type { StampedActor } from '../../../src/protocol/values/actors.js';
import type { Json } from '../../../src/protocol/values/json.js';
import { canonicalJson, fingerprint } from '../../../src/protocol/values/json.js';
import type {
  CallModelResult,
  CheckAnswerResult,
  PreflightToolResult,
  ProviderCallRecord,
  ReconcileToolResult,
} from '../../../src/protocol/workflow/activities.js';
import { CORE_REVISION } from '../../../src/protocol/workflow/revisions.js';

export const EPOCH_MS = Date.parse('2026-03-01T12:00:00.000Z');
export const MINUTE_MS = 60_000;
export const APPROVAL_MS = 60 * MINUTE_MS;
export const ANSWER_MS = 10 * MINUTE_MS;
export const RUN_MS = 30_000;

export const CHAIN = 'chain0000001';
/** The id of the nth turn of a machine made by `aMachine`. */
export const turn = (ordinal: number): string => `turn_${CHAIN}_${ordinal}`;

export function settings(overrides: Partial<AgentSettings> = {}): AgentSettings {
  return {
    maxSteps: 5,
    onBusy: 'reject',
    idleCloseMs: 1_000_000,
    coreRevision: CORE_REVISION,
    ...overrides,
  };
}

export function conversationStarted(overrides: Partial<AgentSettings> = {}): ConversationStarted {
  return {
    type: 'conversation_started',
    tenant: 'default',
    conversationId: 'order-42',
    agent: 'support',
    chain: CHAIN,
    settings: settings(overrides),
  };
}

export class VirtualClock {
  #nowMs = EPOCH_MS;

  readonly now = (): number => this.#nowMs;

  advance(milliseconds: number): void {
    this.#nowMs += milliseconds;
  }

  iso(offsetMs = 0): string {
    return new Date(this.#nowMs + offsetMs).toISOString();
  }
}

/** An actor as the API stamps it. */
export function actor(id: string, overrides: Partial<StampedActor> = {}): StampedActor {
  return { id, verified: true, channel: 'api', ...overrides };
}

/** The worker's plan of a call that the model asked for; the default is an ungated server tool. */
export function plannedCall(
  toolCallId: string,
  overrides: Partial<PlannedCall> & { executor?: Executor } = {},
): PlannedCall {
  const input: Json = overrides.input ?? { of: toolCallId };
  return {
    toolCallId,
    name: `${overrides.executor ?? 'server'}.tool`,
    executor: 'server',
    mode: 'await',
    input,
    argsDigest: `sha256:${fingerprint(canonicalJson(input))}`,
    approval: { needed: false },
    timeouts: { approvalMs: APPROVAL_MS, answerMs: ANSWER_MS, runMs: RUN_MS },
    effects: 'idempotent',
    maxAttempts: 3,
    lateResult: 'reject',
    ...overrides,
  };
}

/** The same, behind an approval gate. */
export function gatedCall(
  toolCallId: string,
  overrides: Partial<PlannedCall> & { executor?: Executor } = {},
): PlannedCall {
  return plannedCall(toolCallId, {
    approval: { needed: true, reason: 'costs money' },
    ...overrides,
  });
}

/** A call that is an error from the start: what the plan holds for an unknown tool or bad arguments. */
export function brokenCall(
  toolCallId: string,
  code: 'unknown_tool' | 'invalid_json' | 'invalid_input' | 'policy_error' = 'unknown_tool',
): PlannedCall {
  const { input: _input, argsDigest: _digest, ...plan } = plannedCall(toolCallId);
  return { ...plan, error: { code, message: `${code} of ${toolCallId}` } };
}

export const USAGE = { inputTokens: 10, outputTokens: 3 };

export function modelSays(text: string): CallModelResult {
  return {
    parts: [{ type: 'text', text }],
    calls: [],
    model: 'scripted',
    finishReason: 'stop',
    usage: USAGE,
    attempt: 1,
  };
}

export function modelCalls(plans: readonly PlannedCall[], text?: string): CallModelResult {
  return {
    parts: text === undefined ? [] : [{ type: 'text', text }],
    calls: plans.map((plan) => ({ plan, argumentsJson: JSON.stringify(plan.input ?? null) })),
    model: 'scripted',
    finishReason: 'tool_calls',
    usage: USAGE,
    attempt: 1,
  };
}

/** A call that the provider has run inside the model call. */
export function providerCall(toolCallId: string, output: Json = 'found'): ProviderCallRecord {
  return {
    plan: { ...plannedCall(toolCallId, { executor: 'provider', effects: 'none' }), name: 'search' },
    result: {
      status: 'resolved',
      envelope: { ok: true, result: output },
      provenance: 'untrusted',
    },
  };
}

export const APPROVE: Resolution = { type: 'approve' };
export const DENY: Resolution = { type: 'deny' };
export const answer = (value: Json): Resolution => ({ type: 'answer', value });
export const result = (value: Json): Resolution => ({ type: 'result', value });

/** Outcomes of the check of an answer. */
export const CHECKED: readonly CheckAnswerResult[] = [
  { ok: true, value: 1 },
  ...[{ ok: false, problems: [] } as const, { ok: false, problems: [] } as const],
];

/** Outcomes of a check by the present definition. */
export const DEFINITIONS: readonly CheckDefinitionResult[] = [
  { outcome: 'ended', error: { code: 'definition_changed', message: 'changed' } },
  ...[{ outcome: 'same' } as const, { outcome: 'same' } as const],
];

/** Every reply that a tool may give when a worker reconciles a lost run or shapes a request. */
export const RECONCILED: readonly ReconcileToolResult[] = [
  { outcome: 'happened', envelope: { ok: true, result: 7 } },
  { outcome: 'not_happened' },
  { outcome: 'unknown', reason: 'down' },
];
export const PREPARED: readonly PreflightToolResult[] = [
  { ok: true, payload: { shaped: 1 }, argsDigest: 'sha256:shaped' },
  { ok: true, payload: null, argsDigest: 'sha256:null' },
  { ok: false, error: { code: 'tool_error', message: 'not yours' } },
];

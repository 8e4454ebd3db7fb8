/** An answer of a model, chosen by a number. */

import { EXECUTORS, type Executor } from '../../../src/protocol/calls/executors.js';
import type { PlannedCall } from '../../../src/protocol/calls/plan.js';
import type { CallModelResult } from '../../../src/protocol/workflow/activities.js';
import {
  ANSWER_MS,
  brokenCall,
  modelCalls,
  modelSays,
  plannedCall,
  providerCall,
} from './core-builders.js';

const CALL_IDS = [
  'a',
  'b',
  'c',
  '__proto__',
  'constructor',
  '',
  'ü',
  'call_turn_chain0000001_1_1_1',
  'call_turn_chain0000001_1_2',
];

const WAITS_FOR_PROGRAMS: readonly Executor[] = ['client', 'external'];
const { timeouts: TIMEOUTS } = plannedCall('');

/** A third of the answers have provider calls, under ids that may be taken; another third states its cost. */
export function modelOutcome(variant: number, fresh: () => string): CallModelResult {
  const outcome = withSomeReads(askingOutcome(variant, fresh), variant);
  if (variant % 3 === 1) return { ...outcome, usage: { ...outcome.usage, costMicros: variant } };
  if (variant % 3 !== 0) return outcome;
  const ids = [CALL_IDS[variant % CALL_IDS.length]!, fresh()];
  return { ...outcome, providerCalls: ids.map((id) => providerCall(id)) };
}

/**
 * 0 to 6 calls: repeated ids, every executor, gates, invalid plans, answers that need a check, defaults on expiry.
 */
function askingOutcome(variant: number, fresh: () => string): CallModelResult {
  const count = variant % 7;
  if (count === 0) return modelSays(`text ${variant}`);
  const plans: PlannedCall[] = [];
  for (let index = 0; index < count; index += 1) {
    const dice = Math.floor(variant / 7) + index * 31;
    const id = dice % 3 === 0 ? CALL_IDS[dice % CALL_IDS.length]! : fresh();
    const executor = EXECUTORS[dice % EXECUTORS.length]!;
    if (dice % 11 === 0) plans.push(brokenCall(id));
    else
      plans.push(
        plannedCall(id, {
          executor,
          effects: dice % 5 === 0 ? 'once' : 'idempotent',
          ...(executor === 'client' && dice % 4 < 2 ? { preflight: true as const } : {}),
          ...(dice % 35 === 5 || dice % 35 === 10 ? { reconcile: true as const } : {}),
          ...(dice % 35 === 10 || dice % 35 === 15 ? { onOutcomeUnknown: 'hold' as const } : {}),
          // Two names for all calls, so that a rule finds more calls to decide.
          ...(dice % 2 === 0 ? { name: 'shared.tool' } : {}),
          ...(dice % 4 === 0 ? { approval: approvalOf(dice) } : {}),
          ...(dice % 9 === 0 ? { answerAudience: { users: ['user-0', 'user-1', 'ben'] } } : {}),
          ...(dice % 6 < 2 ? { warnBeforeMs: dice % 6 === 0 ? 60_000 : 1_200_000 } : {}),
          ...(dice % 3 === 1 ? { recheckAnswer: true as const } : {}),
          ...(WAITS_FOR_PROGRAMS.includes(executor) && dice % 5 < 3
            ? { timeouts: { ...TIMEOUTS, claimMs: dice % 2 === 0 ? ANSWER_MS : ANSWER_MS / 4 } }
            : {}),
          ...(executor === 'external' && dice % 5 > 1 ? { subAgent: subAgentOf(dice) } : {}),
          ...(executor === 'internal' && dice % 5 > 1
            ? { handoff: { agent: dice % 2 === 0 ? 'second' : 'third' } }
            : {}),
          ...(dice % 13 === 0 ? { onExpireDefault: { value: null } } : {}),
          ...(dice % 8 < 2 ? { mode: 'detach' as const } : {}),
          ...(dice % 6 < 3 ? { lateResult: 'inbox' as const } : {}),
          ...(dice % 10 === 0 ? { answerSchema: { type: 'number' } } : {}),
          ...(executor === 'server' && dice % 4 === 2 && dice % 5 > 0
            ? { inline: true, effects: 'none' }
            : {}),
        }),
      );
  }
  return modelCalls(plans, variant % 2 === 0 ? 'thinking' : undefined);
}

/** Most inline reads have run, some under an id that their call may not have, a few without success. */
function withSomeReads(outcome: CallModelResult, variant: number): CallModelResult {
  const calls = outcome.calls.map((call, index) => {
    if (call.plan.inline !== true || (variant + index) % 4 === 0) return call;
    const toolCallId = variant % 5 === 0 ? CALL_IDS[0]! : call.plan.toolCallId;
    const envelope =
      (variant + index) % 3 === 0
        ? { ok: false as const, error: { code: 'tool_error' as const, message: 'no' } }
        : { ok: true as const, result: variant };
    return { ...call, read: { toolCallId, ended: { envelope, executionMs: 1 } } };
  });
  return { ...outcome, calls };
}

function subAgentOf(dice: number): NonNullable<PlannedCall['subAgent']> {
  return {
    agent: 'other',
    ...(dice % 2 === 0 ? { budgets: { tokens: dice, calls: 2 } } : {}),
    ...(dice % 3 === 0 ? { outlives: true } : {}),
  };
}

/** Some approvals have an audience; `ben` answers all the others. */
function approvalOf(dice: number): PlannedCall['approval'] {
  if (dice % 20 !== 0) return { needed: true };
  return { needed: true, audience: { users: ['user-1', 'ben'], exclude: ['requester'] } };
}

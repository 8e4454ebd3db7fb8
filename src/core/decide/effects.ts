/**
 * The decisions of the core, as data: internal effects that the machine carries out at once, and external effects for
 * the driver. Pure.
 */

import type { ToolResult } from '../../protocol/calls/results.js';
import type { Rule } from '../../protocol/calls/rules.js';
import type { SuspensionKind } from '../../protocol/calls/suspensions.js';
import type { TurnLimit } from '../../protocol/conversation/turns.js';
import type { ConversationId, ToolCallId, TurnId } from '../../protocol/values/ids.js';

/** Effects that need nothing from outside: the machine turns them into events at once. */
export type InternalEffect =
  | { readonly type: 'start_turn'; readonly turnId: TurnId }
  /** Starts a turn that answers the entries of the inbox. */
  | { readonly type: 'start_inbox_turn' }
  /** As many of these turns as are allowed have started. */
  | { readonly type: 'pause_inbox'; readonly until: string }
  | {
      readonly type: 'open_suspension';
      readonly toolCallId: ToolCallId;
      readonly kind: SuspensionKind;
    }
  /** A remembered decision takes the place of the approver. */
  | { readonly type: 'apply_rule'; readonly toolCallId: ToolCallId; readonly rule: Rule }
  | { readonly type: 'record_result'; readonly toolCallId: ToolCallId; readonly result: ToolResult }
  /** The call waits for a person, and a message waits for the turn: the turn continues without the call. */
  | { readonly type: 'move_to_background'; readonly toolCallId: ToolCallId }
  /** Patches of plugin states take effect. */
  | { readonly type: 'apply_patches' }
  | { readonly type: 'stop_at_limit'; readonly turnId: TurnId; readonly limit: TurnLimit }
  | { readonly type: 'fail_turn'; readonly turnId: TurnId }
  | { readonly type: 'end_turn'; readonly turnId: TurnId }
  /** The conversation of a sub-agent has done its work. */
  | { readonly type: 'close_child' };

/** Effects for the driver; each has a row in `core/work/effects.ts`. */
export type ExternalEffect =
  | { readonly type: 'call_model'; readonly turnId: TurnId; readonly step: number }
  /**
   * Offload finished steps of the turn to the blob store: with them in the input, the next model call would be too
   * large to send.
   */
  | { readonly type: 'offload_transcript'; readonly turnId: TurnId; readonly step: number }
  /** Stop the model call of the step, if any is under way, and report its progress. */
  | { readonly type: 'abort_model'; readonly turnId: TurnId; readonly step: number }
  /** `run` counts from 1: a call may be run again. */
  | { readonly type: 'run_tool'; readonly toolCallId: ToolCallId; readonly run: number }
  /** Let the tool shape the request of a client call. */
  | { readonly type: 'preflight_tool'; readonly toolCallId: ToolCallId }
  /** Ask the tool what its lost run did. */
  | { readonly type: 'reconcile_tool'; readonly toolCallId: ToolCallId; readonly run: number }
  /**
   * Plan a call when its turn comes in a step that runs its calls one after the other: validate it and evaluate its
   * approval.
   */
  | { readonly type: 'plan_call'; readonly toolCallId: ToolCallId }
  | { readonly type: 'check_answer'; readonly toolCallId: ToolCallId; readonly requestId: string }
  | { readonly type: 'check_edit'; readonly toolCallId: ToolCallId; readonly requestId: string }
  /** Have a worker judge the call by its current definition of the tool. */
  | { readonly type: 'check_definition'; readonly toolCallId: ToolCallId }
  /** Start the conversation of a sub-agent. */
  | { readonly type: 'start_child'; readonly childId: ConversationId }
  /** Close it, because its result is no longer wanted, and get its end. */
  | { readonly type: 'stop_child'; readonly childId: ConversationId }
  | {
      readonly type: 'await_deadline';
      readonly toolCallId: ToolCallId;
      readonly kind: SuspensionKind;
      readonly name: string;
      readonly deadline: string;
    }
  /** End the wait of a call that was not claimed in time. */
  | {
      readonly type: 'await_claim';
      readonly toolCallId: ToolCallId;
      readonly kind: SuspensionKind;
      readonly name: string;
      readonly deadline: string;
    }
  /** Have the oldest turns summarised. No turn waits for the summary. */
  | { readonly type: 'summarize'; readonly ordinal: number }
  | { readonly type: 'await_turn_limit'; readonly turnId: TurnId; readonly deadline: string }
  /** Start the turn of the inbox that was held back. */
  | { readonly type: 'await_inbox_turn'; readonly deadline: string }
  /** Announce the end of a wait; `deadline` is the time of the announcement, `ends` the end of the wait. */
  | {
      readonly type: 'await_warning';
      readonly toolCallId: ToolCallId;
      readonly kind: SuspensionKind;
      readonly name: string;
      readonly deadline: string;
      readonly ends: string;
    };

export type Effect = InternalEffect | ExternalEffect;

export type EffectType = ExternalEffect['type'];
/** The external effect of a type. */
export type EffectOf<Type extends EffectType> = ExternalEffect & { readonly type: Type };

/** Effects that use no resources while they are under way, and that a roll-over carries as instants. */
export type TimerEffect = Extract<ExternalEffect, { readonly deadline: string }>;

export function isTimer(effect: ExternalEffect): effect is TimerEffect {
  return 'deadline' in effect;
}

/**
 * Approvals with edited input: what was approved must be what runs, so the edit is checked by a worker before it replaces the
 * input of the plan; one that fails re-opens the call under its old deadline. Pure.
 */
import type { CheckEditResult } from '../protocol/activities.js';
import type { EventBody, InputEdited } from '../protocol/events.js';
import { canonicalJson, isBoundedJson, type Json, utf8Bytes } from '../protocol/json.js';
import { MAX_ANSWER_BYTES, MAX_ANSWER_DEPTH } from '../protocol/limits.js';
import type { FieldProblem } from '../protocol/resolutions.js';
import type { Suspension } from '../protocol/suspensions.js';
import { outsideReason, requestersOf } from './audience.js';
import { errorResult, resultEvent } from './event-bodies.js';
import { withCall } from './fold.js';
import type { CallState, ConversationState } from './state.js';

const PATH = '/resolution/input';

/** Why this cannot be anybody's input; its schema is for the worker to judge. */
export function editProblems(input: unknown): readonly FieldProblem[] {
  if (input === undefined) return [];
  if (!isBoundedJson(input, MAX_ANSWER_DEPTH))
    return [{ path: PATH, message: `must be JSON, nested at most ${MAX_ANSWER_DEPTH} deep` }];
  const bytes = utf8Bytes(JSON.stringify(input));
  return bytes > MAX_ANSWER_BYTES
    ? [{ path: PATH, message: `must be at most ${MAX_ANSWER_BYTES} bytes, got ${bytes}` }]
    : [];
}

/** The edit of an approval; what equals the pending input is none. */
export function editOf(input: Json | undefined, { prompt }: Suspension): { input?: Json } {
  return input === undefined || canonicalJson(input) === canonicalJson(prompt) ? {} : { input };
}

/** A worker has checked an edit. The policy may want another approver for it than the one who made it. */
export function editCheckedEvents(
  state: ConversationState,
  call: CallState,
  outcome: CheckEditResult,
): readonly EventBody[] {
  const { edit, plan, turnId } = call;
  if (edit === undefined) return [];
  const { toolCallId, name, executor } = plan;
  const { requestId } = edit;
  const revert = (problems: readonly FieldProblem[]): readonly EventBody[] => [
    { type: 'resolution_reverted', turnId, toolCallId, requestId, problems },
  ];
  if (!outcome.ok && 'ended' in outcome)
    return [resultEvent(call, errorResult('errored', outcome.ended))];
  if (!outcome.ok) return revert(outcome.problems);
  const { approval, input, argsDigest, definition } = outcome;
  const audience = approval.needed ? approval.audience : undefined;
  const outside =
    audience === undefined
      ? undefined
      : outsideReason(audience, edit.actor, requestersOf(state, call));
  if (outside !== undefined) return revert([{ path: PATH, message: `as edited, ${outside}` }]);
  const beside = call.aside === 'detached' ? { detached: true as const } : {};
  const edited = { ...beside, turnId, toolCallId, name, executor, requestId, input, argsDigest };
  const judgedBy = definition === undefined ? {} : { definition };
  return [{ type: 'input_edited', ...edited, ...judgedBy }];
}

/** From here on, the edited input is the call's. */
export function inputEdited(
  state: ConversationState,
  event: InputEdited & { readonly seq: number },
): ConversationState {
  const { input, argsDigest, definition, seq } = event;
  // It was judged just now, by the definition of now.
  return withCall(state, event.toolCallId, ({ edit, gateWaited: _judged, ...call }) => {
    const { raw: _before, ...plan } = call.plan;
    const given = edit?.input ?? input;
    const raw = canonicalJson(given) === canonicalJson(input) ? {} : { raw: given };
    const judgedBy = definition === undefined ? {} : { definition };
    return {
      ...call,
      plan: { ...plan, input, argsDigest, ...raw, ...judgedBy },
      since: seq,
      ...(edit === undefined ? {} : { approver: edit.actor }),
    };
  });
}

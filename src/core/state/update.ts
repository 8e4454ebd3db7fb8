/** Small changes of a state, from which `apply` is composed. Pure. */

import { MAX_REMEMBERED_REQUESTS } from '../../protocol/limits/limits.js';
import type { CanonicalEvent, EventType } from '../../protocol/log/events.js';
import type { CallState } from './calls.js';
import type { RequestRow } from './requests.js';
import type { ConversationState, TurnState } from './state.js';

/** An event's body with its place in the log. */
export type Stamped<Body> = Body & {
  readonly seq: number;
  readonly at: string;
  readonly unrecordedRefusals?: number;
};

export function withTurn(
  state: ConversationState,
  change: (turn: TurnState) => TurnState,
): ConversationState {
  return state.turn === undefined ? state : { ...state, turn: change(state.turn) };
}

export function withCall(
  state: ConversationState,
  callId: string,
  change: (call: CallState) => CallState,
): ConversationState {
  const call = state.calls[callId];
  if (call === undefined) return state;
  return { ...state, calls: { ...state.calls, [callId]: change(call) } };
}

/** Keeps the reply to a request, so that repeats get the same reply. */
export function remember(state: ConversationState, row: RequestRow): ConversationState {
  return { ...state, requests: [...state.requests, row].slice(-MAX_REMEMBERED_REQUESTS) };
}

const TELEMETRY: readonly EventType[] = [
  'resolution_refused',
  'message_refused',
  'summary',
  'transcript_offloaded',
];

/** Events that do not count as activity: they must not keep an idle conversation open. */
export function isTelemetry({ type }: CanonicalEvent): boolean {
  return TELEMETRY.includes(type);
}

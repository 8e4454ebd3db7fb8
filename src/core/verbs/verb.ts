/** The form of a verb: one kind of request to a conversation, from its fields to the events that record it. Pure. */
import type { EventBody, MessageRefused, ResolutionRefused } from '../../protocol/log/events.js';
import type { ToolCallId } from '../../protocol/values/ids.js';
import type { Judged, Parsed } from '../judge/judged.js';
import type { ConversationState } from '../state/state.js';

/** The events of an accepted request, and its reply. */
export interface Recorded<Reply> {
  readonly events: readonly EventBody[];
  /** The reply. `state` has the events, and no consequence of them yet; `seq` is the number of the first. */
  readonly reply: (state: ConversationState, seq: number) => Reply;
}

/** Makes the part of a turn's id that differs after a reset; see `MachineOptions.turnToken`. */
export type TurnToken = (() => string) | undefined;

export interface VerbRow<Request, Accepted, Reply, Refused> {
  /** For the Temporal UI: what a request does, with its fields. */
  readonly description: string;
  /** Reads a plain copy of the request. */
  parse(input: unknown): Parsed<Request, Refused>;
  judge(state: ConversationState, request: Request, nowMs: number): Judged<Accepted, Refused>;
  record(state: ConversationState, accepted: Accepted, token: TurnToken): Recorded<Reply>;
  /** The call whose deadline has to be recorded as passed before the request is. */
  expires?(accepted: Accepted): ToolCallId | undefined;
  /**
   * Present where the request may also come as a signal: the event that records the refusal of one, because signals
   * have no reply. Undefined for a repeated request, which is dropped.
   */
  refusedSignal?(
    input: unknown,
    refusal: NoInfer<Refused>,
  ): MessageRefused | ResolutionRefused | undefined;
}

/** A verb as the machine uses it. */
export interface Verb<Reply, Refused> {
  readonly description: string;
  weigh(state: ConversationState, input: unknown, nowMs: number): Weighed<Reply, Refused>;
  refusedSignal(input: unknown, refusal: Refused): MessageRefused | ResolutionRefused | undefined;
}

export type Weighed<Reply, Refused> =
  | { readonly refusal: Refused }
  | {
      readonly record: (state: ConversationState, token: TurnToken) => Recorded<Reply>;
      readonly expires: ToolCallId | undefined;
    };

export function verb<Request, Accepted, Reply, Refused>(
  row: VerbRow<Request, Accepted, Reply, Refused>,
): Verb<Reply, Refused> {
  return {
    description: row.description,
    refusedSignal: (input, refusal) => row.refusedSignal?.(input, refusal),
    weigh: (state, input, nowMs) => {
      const parsed = row.parse(input);
      if ('refusal' in parsed) return parsed;
      const judged = row.judge(state, parsed.request, nowMs);
      if ('refusal' in judged) return judged;
      const { accepted } = judged;
      return {
        record: (at, token) => row.record(at, accepted, token),
        expires: row.expires?.(accepted),
      };
    },
  };
}

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

/** A request that was accepted and has to be recorded. */
export interface Acceptance<Reply> {
  record(state: ConversationState, token: TurnToken): Recorded<Reply>;
  /** The call whose deadline has to be recorded as passed before the request is. */
  readonly expires: ToolCallId | undefined;
}

/** A kind of request as the machine uses it. */
export interface Verb<Reply, Refused> {
  /** For the Temporal UI: the effect of a request, with its fields. */
  readonly description: string;
  /** Reads and judges a plain copy of the request. */
  judge(
    state: ConversationState,
    input: unknown,
    nowMs: number,
  ): Judged<Acceptance<Reply>, Refused>;
  /**
   * Present where the request may also come as a signal: the event that records the refusal of one, because signals
   * have no reply. Undefined for a repeated request, which is dropped.
   */
  readonly refusedSignal?: RefusedSignal<Refused>;
}

export type RefusedSignal<Refused> = (
  input: unknown,
  refusal: Refused,
) => MessageRefused | ResolutionRefused | undefined;

/** The steps of a verb, each with the result of the one before it. */
export interface VerbSteps<Request, Accepted, Reply, Refused> {
  readonly description: string;
  parse(input: unknown): Parsed<Request, Refused>;
  judge(state: ConversationState, request: Request, nowMs: number): Judged<Accepted, Refused>;
  record(state: ConversationState, accepted: Accepted, token: TurnToken): Recorded<Reply>;
  /** See `Acceptance.expires`. */
  expires?(accepted: Accepted): ToolCallId | undefined;
}

export function verb<Request, Accepted, Reply, Refused>(
  steps: VerbSteps<Request, Accepted, Reply, Refused>,
): Verb<Reply, Refused> {
  return {
    description: steps.description,
    judge: (state, input, nowMs) => {
      const parsed = steps.parse(input);
      if ('refusal' in parsed) return parsed;
      const judged = steps.judge(state, parsed.request, nowMs);
      if ('refusal' in judged) return judged;
      const { accepted } = judged;
      return {
        accepted: {
          record: (at, token) => steps.record(at, accepted, token),
          expires: steps.expires?.(accepted),
        },
      };
    },
  };
}

/** A verb whose requests may also come as signals. */
export function signalVerb<Request, Accepted, Reply, Refused>(
  steps: VerbSteps<Request, Accepted, Reply, Refused> & {
    readonly refusedSignal: RefusedSignal<NoInfer<Refused>>;
  },
) {
  const { refusedSignal } = steps;
  return { ...verb(steps), refusedSignal };
}

/** The outcome of a request. */
export type Outcome<Reply, Refused> =
  | { readonly accepted: true; readonly reply: Reply }
  | { readonly accepted: false; readonly refusal: Refused };

/** The verdict of a verb whose replies and refusals are verdicts. */
export function verdictOf<Reply, Refused>(outcome: Outcome<Reply, Refused>): Reply | Refused {
  return outcome.accepted ? outcome.reply : outcome.refusal;
}

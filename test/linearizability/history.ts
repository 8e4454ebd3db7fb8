/** Histories as the judge reads them (`judge/history.go`), and the part that comes from the event log. */
import type { CanonicalEvent } from 'colloquy/client';

/** Nanoseconds of the monotonic clock since the recording began: the same clock in every process of a machine. */
export type Nanoseconds = number;

/**
 * `approval`: of a tool that runs once. `question`: to a person. `external`: run elsewhere, under a claim with a long
 * lease. `leased`: the same with leases that end during the race.
 */
export const KINDS = ['approval', 'question', 'external', 'leased'] as const;
export type Kind = (typeof KINDS)[number];

export interface Input {
  readonly op: 'resolve' | 'claim' | 'extend' | 'cancel';
  readonly requestId?: string;
  readonly actor: string;
  /** The resolution as JSON. */
  readonly content?: string;
  /** The value breaks the schema of the answer. */
  readonly misfit?: true;
  readonly claimId?: string;
  readonly renewOnly?: true;
  readonly leaseMs?: number;
  readonly byMs?: number;
  readonly untilMs?: number;
}

/** The reply; for a duplicate, all fields but the verdict are those of the first verdict. */
export interface Output {
  readonly verdict: string;
  readonly why?: string;
  readonly status?: string;
  readonly by?: string;
  readonly seq?: number;
  readonly claimId?: string;
  readonly deadlineMs?: number;
}

export interface Operation {
  readonly client: number;
  readonly call: Nanoseconds;
  readonly return: Nanoseconds;
  readonly input: Input;
  /** Absent when the outcome is unknown. */
  readonly output?: Output;
}

/** An accepted request in the log; of other kinds are events that end a call without one, which no history should have. */
export interface Entry {
  readonly kind: string;
  readonly seq: number;
  readonly requestId?: string;
  readonly actor?: string;
  readonly content?: string;
  readonly claimId?: string;
  readonly renewal?: true;
  readonly deadlineMs?: number;
  readonly previousMs?: number;
}

export interface History {
  readonly id: string;
  readonly kind: Kind;
  readonly deadlineMs: number;
  readonly operations: readonly Operation[];
  readonly log: {
    readonly call: Nanoseconds;
    readonly return: Nanoseconds;
    readonly entries: readonly Entry[];
    readonly results: readonly string[];
    readonly effects: number;
  };
}

/** JSON with sorted keys, so that a resolution can be compared with the recorded one. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
}

/** The entry of an event; undefined for events that are of another call, or that no request has caused. */
export function entryOf(event: CanonicalEvent, toolCallId: string): Entry | undefined {
  const { type, seq } = event;
  if (type === 'cancel_requested')
    return { kind: 'cancel', seq, actor: event.actor.id, ...named(event.requestId) };
  if (!('toolCallId' in event) || event.toolCallId !== toolCallId) return undefined;
  switch (type) {
    case 'resolution': {
      const { requestId, actor, resolution } = event;
      return { kind: type, seq, requestId, actor: actor.id, content: canonical(resolution) };
    }
    case 'claimed': {
      const { requestId, actor, claimId, renewal } = event;
      const again = renewal === true ? { renewal } : {};
      return { kind: type, seq, requestId, actor: actor.id, claimId, ...again };
    }
    case 'lease_lost':
      return { kind: type, seq, actor: event.by, claimId: event.claimId };
    case 'extended': {
      const { requestId, actor, deadline, previousDeadline } = event;
      const moved = { deadlineMs: Date.parse(deadline), previousMs: Date.parse(previousDeadline) };
      return { kind: type, seq, requestId, actor: actor.id, ...moved };
    }
    case 'expired':
    case 'resolution_reverted':
      return { kind: type, seq };
    default:
      return undefined;
  }
}

/** The statuses of the results of a call, oldest first. */
export function resultsOf(events: readonly CanonicalEvent[], toolCallId: string): string[] {
  return events.flatMap((event) =>
    event.type === 'tool_result' && event.toolCallId === toolCallId ? [event.result.status] : [],
  );
}

function named(requestId: string | undefined): { requestId?: string } {
  return requestId === undefined ? {} : { requestId };
}

/** The worklist: waiting calls across the conversations of a tenant, one item for each call. Runs anywhere. */
import type { Executor, Risk, ToolLabels } from '../calls/executors.js';
import type { Claim, SuspensionKind } from '../calls/suspensions.js';
import type { Audience } from '../values/audience.js';
import type { ConversationKey, ToolCallId, TurnId } from '../values/ids.js';

/** A waiting call, with bounded texts. The conversation's `pending` has the whole call. */
export interface WaitingItem extends ConversationKey, ToolLabels {
  /** The opaque name of the call in requests that answer it. */
  readonly ref: string;
  readonly toolCallId: ToolCallId;
  readonly turnId: TurnId;
  readonly tool: string;
  /** The agent that made the call. */
  readonly agent: string;
  readonly executor: Executor;
  readonly kind: SuspensionKind;
  /** The arguments, or the question, as JSON; cut to `MAX_PREVIEW_CHARS`. */
  readonly preview: string;
  /** Present when `preview` is cut. */
  readonly previewCut?: true;
  readonly reason?: string;
  /** An answer that names it is refused once the call shows something else. */
  readonly argsDigest?: string;
  /** ISO 8601. */
  readonly openedAt: string;
  /** ISO 8601. */
  readonly deadline: string;
  /** ISO 8601. The wait ends here unless the call is claimed before. */
  readonly claimBy?: string;
  readonly claim?: Pick<Claim, 'by' | 'at'>;
  /** Absent: every actor. */
  readonly audience?: Audience;
  /** Ids of the actors who asked for the call: they sent messages of its turn. */
  readonly requesters: readonly string[];
}

/** A waiting call as it is shown to one actor. */
export interface WorklistItem extends Omit<WaitingItem, 'audience'> {
  /** The audience in words. */
  readonly audience: string;
  /** Whether the actor may answer the call as it stands: the conversation would not refuse the actor. */
  readonly mayAnswer: boolean;
  /** Why the actor may, or may not, in words. */
  readonly why: string;
}

/** Filters of the worklist; all given ones hold at once. */
export interface WorklistFilter {
  readonly tool?: string;
  readonly agent?: string;
  readonly kind?: SuspensionKind;
  readonly risk?: Risk;
  /** Id of an actor who asked for the call. */
  readonly requester?: string;
  /** ISO 8601; calls whose deadline is earlier. */
  readonly deadlineBefore?: string;
}

/** Numbers of calls. Where there are more than are counted, those that end first are. */
export interface WorklistCounts {
  readonly total: number;
  /** By name; those with the most calls. */
  readonly byTool: Readonly<Record<string, number>>;
  /** Calls of tools that `byTool` leaves out. Absent: none. */
  readonly otherTools?: number;
  /** `none`: calls of tools that declare no risk. */
  readonly byRisk: Readonly<Record<Risk | 'none', number>>;
  /** There may be more calls than `total`, which is the most that are counted. */
  readonly capped?: true;
}

export interface WorklistPage {
  /** Those that end first come first. */
  readonly items: readonly WorklistItem[];
  /** Absent on the last page. */
  readonly nextCursor?: string;
  /** Counts of all calls that match; on the first page only. */
  readonly counts?: WorklistCounts;
}

export const MAX_PREVIEW_CHARS = 1_000;
/** The most calls that are counted. */
export const MAX_COUNTED_CALLS = 10_000;
/** The most tools that counts name. */
export const MAX_COUNTED_TOOLS = 50;

export interface CountedCalls extends Pick<WaitingItem, 'tool' | 'risk'> {
  readonly calls: number;
}

/** Counts from numbers of calls by tool and risk. `capped`: there may be calls that are not counted. */
export function worklistCounts(counted: Iterable<CountedCalls>, capped?: boolean): WorklistCounts {
  const tools = new Map<string, number>();
  const byRisk = { low: 0, medium: 0, high: 0, none: 0 };
  let total = 0;
  for (const { tool, risk, calls } of counted) {
    total += calls;
    byRisk[risk ?? 'none'] += calls;
    tools.set(tool, (tools.get(tool) ?? 0) + calls);
  }
  const most = [...tools].sort(([a, left], [b, right]) => right - left || (a < b ? -1 : 1));
  const otherTools = most.slice(MAX_COUNTED_TOOLS).reduce((sum, [, calls]) => sum + calls, 0);
  return {
    total,
    byTool: Object.fromEntries(most.slice(0, MAX_COUNTED_TOOLS)),
    ...(otherTools === 0 ? {} : { otherTools }),
    byRisk,
    ...(capped === true ? { capped } : {}),
  };
}

/** A change of a worklist as one actor sees it. `id`: names the whole list after the change, for a reader that returns. */
export type WorklistFrame =
  /** A part of the whole list, in order; `first` replaces all that the reader had. */
  | {
      readonly type: 'snapshot';
      readonly items: readonly WorklistItem[];
      readonly first: boolean;
      readonly last: boolean;
      readonly id?: string;
    }
  /** A call that is new on the list, or has changed. */
  | { readonly type: 'item'; readonly item: WorklistItem; readonly id: string }
  /** A call that is no longer on the list. */
  | { readonly type: 'gone'; readonly ref: string; readonly id: string }
  | { readonly type: 'counts'; readonly counts: WorklistCounts };

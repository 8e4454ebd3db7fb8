/**
 * What a model call is given of its conversation: the summary of what is gone, the turns since, old results as stubs, and what
 * is injected for this call at the very end. The system prompt stands before. Pure.
 *
 * C1  Every call has exactly one result, and the order of the transcript is kept: turns are left out whole.
 * C2  It never exceeds its budget; where the turn in progress alone does, `tooLong` says so.
 * C3  It is a function of its input. What was given to the call before is, to the byte, where it begins, except at a call that
 *     made it smaller: it leaps, because providers' prompt caches live on what does not change.
 */
import type { ContextMark, ModelContext } from '../../protocol/conversation/context.js';
import type { Message, UserMessage } from '../../protocol/conversation/messages.js';
import { MAX_CARRIED_TRANSCRIPT_BYTES } from '../../protocol/limits/limits.js';
import { oldResults, type RetentionOf, stubsIn, withStubs } from './retention.js';
import { messageBytes } from './transcript.js';
import { headLength, messagesFrom, summaryOf, type TurnSpan, turnSpans } from './turn-spans.js';

/** From this share of the budget on, old results become stubs, and what is left is to be summarised. */
export const COMPACTION_SHARE = 0.7;
/** Making stubs spoils the prompt cache, so it has to free this share of the budget, or be needed. */
const WORTH_A_LEAP = 0.1;
/** What is left when turns are left out: so much room that it does not happen again at the next call. */
const LEFT_AFTER_LEAP = 0.5;
/** A provider that counts less or more than this, by our count, counts something else. */
const PLAUSIBLE_SCALE = { from: 0.5, to: 2 };

export interface ContextPolicy {
  /** Input tokens, system prompt and tools included. */
  readonly budget: number;
  /** Newest whole turns, at most; the one in progress included. Absent: as many as fit. */
  readonly window?: number;
  readonly retentionOf: RetentionOf;
}

export interface ContextParts {
  /** In the order of the log; a summary is the first. The last turn is the one in progress. */
  readonly messages: readonly Message[];
  readonly policy: ContextPolicy;
  /** Of one message, by the engine's own count. */
  readonly countTokens: (message: Message) => number;
  /** The same of system prompt and tools. */
  readonly fixedTokens: number;
  /** Of the model call before. Absent: there was none, or nothing is known of it. */
  readonly mark?: ContextMark | undefined;
  /** The count is by size alone. */
  readonly rough?: true;
  /** For this call alone. */
  readonly injections?: readonly UserMessage[];
  /** Bytes of transcript that the conversation can hold. @defaultValue `MAX_CARRIED_TRANSCRIPT_BYTES` */
  readonly heldBytes?: number | undefined;
  /** The provider has refused what was given before: no more than so many tokens now, whatever the budget. */
  readonly refusedAt?: number;
}

export interface AssembledContext {
  readonly messages: readonly Message[];
  readonly context: ModelContext;
  /** With so many of them the next call begins, too, while nothing leaps: all but what is for this call alone. */
  readonly stable: number;
  /** The turn in progress alone exceeds the budget. */
  readonly tooLong: boolean;
}

/** Where the context begins, and as of which message results are old (-1: none are). */
interface Cut {
  readonly from: number;
  readonly asOf: number;
}

export function assembleContext(parts: ContextParts): AssembledContext {
  const view = new View(parts);
  const { policy, refusedAt } = parts;
  const limit =
    refusedAt === undefined ? policy.budget : Math.min(policy.budget, refusedAt * LEFT_AFTER_LEAP);
  const before = view.markedCut();
  let cut = before;
  let tokens = view.tokens(cut);
  if (tokens > limit * COMPACTION_SHARE) {
    const stubbed = { ...cut, asOf: parts.messages.length - 1 };
    const freed = tokens - view.tokens(stubbed);
    if (freed >= limit * WORTH_A_LEAP || (freed > 0 && tokens > limit)) {
      cut = stubbed;
      const left = tokens - freed;
      if (left > limit || (tokens > limit && left > limit * COMPACTION_SHARE))
        cut = view.shortened(cut, limit * LEFT_AFTER_LEAP);
    } else if (tokens > limit) cut = view.shortened(cut, limit * LEFT_AFTER_LEAP);
    tokens = view.tokens(cut);
  }
  return view.assembled(cut, { before, tokens, tooLong: tokens > limit });
}

class View {
  readonly #parts: ContextParts;
  readonly #spans: readonly TurnSpan[];
  readonly #head: number;
  readonly #scale: number;
  /** Where the window alone would begin. */
  readonly #windowFrom: number;
  #asOf = -1;
  #shown: readonly Message[];
  #counts: readonly number[];

  constructor(parts: ContextParts) {
    this.#parts = parts;
    const { messages, mark, policy, countTokens } = parts;
    this.#spans = turnSpans(messages);
    this.#head = headLength(messages);
    this.#scale = mark?.rough === parts.rough ? scaleOf(mark) : 1;
    const first = this.#spans.at(-(policy.window ?? this.#spans.length));
    this.#windowFrom = first?.from ?? this.#head;
    this.#shown = messages;
    this.#counts = messages.map(countTokens);
  }

  /** As at the call before. A turn or message that is gone was summarised or left behind, and so was all before it. */
  markedCut(): Cut {
    const { messages, mark } = this.#parts;
    const { fromTurnId, evictedAsOf } = mark ?? {};
    const marked = this.#spans.find(({ turnId }) => turnId === fromTurnId)?.from ?? this.#head;
    const asOf =
      evictedAsOf === undefined ? -1 : messages.findIndex(({ id }) => id === evictedAsOf);
    return { from: Math.max(marked, this.#windowFrom), asOf };
  }

  /** Whole turns are left out, the oldest first and never the last, until no more than so many tokens are left. */
  shortened(cut: Cut, maxTokens: number): Cut {
    const starts = this.#spans.map(({ from }) => from).filter((from) => from > cut.from);
    let from = cut.from;
    for (const start of starts) {
      if (this.tokens({ ...cut, from }) <= maxTokens) break;
      from = start;
    }
    return { ...cut, from };
  }

  tokens({ from, asOf }: Cut): number {
    this.#show(asOf);
    const { fixedTokens, injections = [], countTokens } = this.#parts;
    let sum = fixedTokens;
    for (const message of injections) sum += countTokens(message);
    for (const [index, count] of this.#counts.entries())
      if (index < this.#head || index >= from) sum += count;
    return Math.ceil(sum * this.#scale);
  }

  assembled(
    cut: Cut,
    known: { readonly before: Cut; readonly tokens: number; readonly tooLong: boolean },
  ): AssembledContext {
    this.#show(cut.asOf);
    const { injections = [], messages: originals } = this.#parts;
    const messages = messagesFrom(this.#shown, cut.from);
    const given = messagesFrom(originals, cut.from);
    const stubs = messages.reduce(
      (sum, message, index) => sum + stubsIn(message, given[index] ?? message),
      0,
    );
    const shown = { messages: messages.length, stubs };
    return {
      messages: [...messages, ...injections],
      stable: messages.length,
      context: this.#record(cut, { ...known, ...shown }),
      tooLong: known.tooLong,
    };
  }

  #record(
    cut: Cut,
    known: {
      readonly before: Cut;
      readonly tokens: number;
      readonly messages: number;
      readonly stubs: number;
    },
  ): ModelContext {
    const { policy, messages, refusedAt, heldBytes = MAX_CARRIED_TRANSCRIPT_BYTES } = this.#parts;
    const { before, tokens, stubs } = known;
    const dropped = this.#spans.filter(({ from }) => from < cut.from).length;
    const isBudgets = cut.from > this.#windowFrom;
    const fromTurnId = isBudgets
      ? this.#spans.find(({ from }) => from === cut.from)?.turnId
      : undefined;
    const evictedAsOf = messages[cut.asOf]?.id;
    const summary = summaryOf(messages)?.summary;
    const compacted = reasonOf(cut, before, refusedAt);
    const bytes = messages.reduce((sum, message) => sum + messageBytes(message), 0);
    const isDue =
      isBudgets ||
      tokens > policy.budget * COMPACTION_SHARE ||
      bytes > heldBytes * COMPACTION_SHARE;
    return {
      tokens,
      budget: policy.budget,
      messages: known.messages,
      ...(dropped === 0 ? {} : { droppedTurns: dropped }),
      ...(stubs === 0 ? {} : { evictedResults: stubs }),
      ...(summary === undefined ? {} : { summary }),
      ...(compacted === undefined ? {} : { compacted }),
      ...(fromTurnId === undefined ? {} : { fromTurnId }),
      ...(evictedAsOf === undefined ? {} : { evictedAsOf }),
      ...(this.#parts.rough === undefined ? {} : { rough: true }),
      ...(this.#scale === 1 ? {} : { scale: this.#scale }),
      ...(isDue ? { summaryDue: true } : {}),
    };
  }

  #show(asOf: number): void {
    if (asOf === this.#asOf) return;
    this.#asOf = asOf;
    const { messages, policy, countTokens } = this.#parts;
    const old = oldResults(messages.slice(0, asOf + 1), policy.retentionOf);
    this.#shown = messages.map((message) => withStubs(message, old));
    this.#counts = this.#shown.map(countTokens);
  }
}

function reasonOf(cut: Cut, before: Cut, refusedAt: number | undefined): ModelContext['compacted'] {
  if (cut.from === before.from && cut.asOf === before.asOf) return undefined;
  if (refusedAt !== undefined) return 'too_long';
  return cut.from === before.from ? 'share' : 'budget';
}

/** How the provider's count of the call before compares with ours. */
function scaleOf(mark: ContextMark | undefined): number {
  if (mark === undefined || mark.tokens <= 0) return 1;
  const scale = ((mark.scale ?? 1) * mark.inputTokens) / mark.tokens;
  return scale >= PLAUSIBLE_SCALE.from && scale <= PLAUSIBLE_SCALE.to
    ? Math.round(scale * 1_000) / 1_000
    : 1;
}

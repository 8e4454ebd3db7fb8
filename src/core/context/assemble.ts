/**
 * Assembles the context of a model call: the summary of the oldest turns, the turns since, old results as stubs, and at
 * the very end the injections for this call. The system prompt precedes all of them. Pure.
 *
 * C1  Every call has exactly one result, and the order of the transcript is kept: only whole turns are left out.
 * C2  The context never exceeds its budget; where the turn in progress alone does, `tooLong` reports it.
 * C3  The context is a function of its input. It begins with the context of the call before, byte for byte, except when
 *     it is reduced: then it is reduced by much at once, because providers cache prompts by their unchanged beginning.
 */
import type { ContextMark, ModelContext } from '../../protocol/conversation/context.js';
import type { Message, UserMessage } from '../../protocol/conversation/messages.js';
import { MAX_CARRIED_TRANSCRIPT_BYTES } from '../../protocol/limits/limits.js';
import { oldResults, type RetentionOf, stubsIn, withStubs } from './retention.js';
import { bytesOf } from './transcript.js';
import { headLength, messagesFrom, summaryOf, type TurnSpan, turnSpans } from './turn-spans.js';

/** From this share of the budget on, old results become stubs, and a summary of the rest is due. */
const COMPACTION_SHARE = 0.7;
/** Stubs invalidate the prompt cache, so they have to free this share of the budget, or be necessary. */
const WORTH_A_LEAP = 0.1;
/**
 * Share of the budget that remains when turns are left out: small enough that the next call need not leave out more.
 */
const LEFT_AFTER_LEAP = 0.5;
/** Range of plausible ratios of the provider's count to the engine's; beyond it, the provider counts something else. */
const PLAUSIBLE_SCALE = { from: 0.5, to: 2 };

export interface ContextPolicy {
  /** Input tokens, system prompt and tools included. */
  readonly budget: number;
  /** Maximum number of newest whole turns, the one in progress included. Absent: as many as fit. */
  readonly window?: number;
  readonly retentionOf: RetentionOf;
  /** Whether results of the tool become stubs as soon as they are old, near the budget or not. @defaultValue none do */
  readonly atOnce?: (toolName: string) => boolean;
}

export interface ContextParts {
  /** In the order of the log; a summary is the first. The last turn is the one in progress. */
  readonly messages: readonly Message[];
  readonly policy: ContextPolicy;
  /** Tokens of one message, by the engine's own count. */
  readonly countTokens: (message: Message) => number;
  /** Tokens of system prompt and tools, by the engine's own count. */
  readonly fixedTokens: number;
  /** Facts about the previous model call. Absent: there was none, or nothing is known about it. */
  readonly mark?: ContextMark | undefined;
  /** The tokens are estimated by size only. */
  readonly rough?: true;
  /** Messages for this call only. */
  readonly injections?: readonly UserMessage[];
  /** Bytes of transcript that the conversation can hold. @defaultValue `MAX_CARRIED_TRANSCRIPT_BYTES` */
  readonly heldBytes?: number | undefined;
  /** Bytes of a message as JSON. @defaultValue measures it at each call */
  readonly sizeOf?: (message: Message) => number;
  /** The provider has refused a context of this many tokens, so the new one is limited to a share of them. */
  readonly refusedAt?: number;
}

export interface AssembledContext {
  readonly messages: readonly Message[];
  readonly context: ModelContext;
  /** Number of messages with which the next call begins, too, unless the context is reduced: all but the injections. */
  readonly stable: number;
  /** The turn in progress alone exceeds the budget. */
  readonly tooLong: boolean;
}

/** Index of the first message of the context, and index up to which results are old (-1: none are). */
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
  /** Index of the first message by the window alone. */
  readonly #windowFrom: number;
  #asOf: number | undefined;
  /** Results that are stubs in any case. */
  readonly #expired: ReadonlySet<string>;
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
    const { retentionOf, atOnce = () => false } = policy;
    this.#expired = oldResults(messages, (name) =>
      atOnce(name) ? retentionOf(name) : 'never_evict',
    );
    this.#shown = messages;
    this.#counts = messages.map(countTokens);
  }

  /**
   * The cut of the previous call. A turn or message that is gone was summarised or dropped, and so was everything
   * before it.
   */
  markedCut(): Cut {
    const { messages, mark } = this.#parts;
    const { fromTurnId, evictedAsOf } = mark ?? {};
    const marked = this.#spans.find(({ turnId }) => turnId === fromTurnId)?.from ?? this.#head;
    const asOf =
      evictedAsOf === undefined ? -1 : messages.findIndex(({ id }) => id === evictedAsOf);
    return { from: Math.max(marked, this.#windowFrom), asOf };
  }

  /** Leaves out whole turns, the oldest first and never the last, until at most this many tokens are left. */
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
    const { policy, messages, refusedAt, sizeOf } = this.#parts;
    const { heldBytes = MAX_CARRIED_TRANSCRIPT_BYTES } = this.#parts;
    const { before, tokens, stubs } = known;
    const dropped = this.#spans.filter(({ from }) => from < cut.from).length;
    const isBudgets = cut.from > this.#windowFrom;
    const fromTurnId = isBudgets
      ? this.#spans.find(({ from }) => from === cut.from)?.turnId
      : undefined;
    const evictedAsOf = messages[cut.asOf]?.id;
    const summary = summaryOf(messages)?.summary;
    const compacted = reasonOf(cut, before, refusedAt);
    const isDue =
      isBudgets ||
      tokens > policy.budget * COMPACTION_SHARE ||
      bytesOf(messages, sizeOf) > heldBytes * COMPACTION_SHARE;
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
    const stubs = this.#expired.size === 0 ? old : new Set([...old, ...this.#expired]);
    this.#shown = messages.map((message) => withStubs(message, stubs));
    this.#counts = this.#shown.map(countTokens);
  }
}

function reasonOf(cut: Cut, before: Cut, refusedAt: number | undefined): ModelContext['compacted'] {
  if (cut.from === before.from && cut.asOf === before.asOf) return undefined;
  if (refusedAt !== undefined) return 'too_long';
  return cut.from === before.from ? 'share' : 'budget';
}

/** Ratio of the provider's count of the previous call to the engine's. */
function scaleOf(mark: ContextMark | undefined): number {
  if (mark === undefined || mark.tokens <= 0) return 1;
  const scale = ((mark.scale ?? 1) * mark.inputTokens) / mark.tokens;
  return scale >= PLAUSIBLE_SCALE.from && scale <= PLAUSIBLE_SCALE.to
    ? Math.round(scale * 1_000) / 1_000
    : 1;
}

/** The visible calls that models are writing in a space, as a page has received them. Pure. */
import {
  isSameMember,
  type SpaceMessage,
  type StreamedArguments,
} from '../../protocol/spaces/spaces.js';
import type { WrittenCall } from './types.js';

/** A model that writes for so long without a piece has failed, or its worker is gone. */
export const FORGET_MS = 30_000;
const MAX_CALLS = 50;

interface Written extends Omit<StreamedArguments, 'offset'> {
  readonly atMs: number;
  /** Its message is there: pieces that come late are of no use. */
  readonly hasBegun?: true;
}

export class WrittenCalls {
  readonly #calls = new Map<string, Written>();

  /** Oldest first. */
  get all(): readonly WrittenCall[] {
    return [...this.#calls.values()]
      .filter(({ hasBegun }) => hasBegun !== true)
      .map(({ attempt: _attempt, atMs: _atMs, ...call }) => call);
  }

  /**
   * Adds a piece. Returns the part of it that is new; undefined for a repeat, and for a piece behind missing text, since
   * a stream brings the whole text again.
   */
  take({ offset, ...piece }: StreamedArguments, nowMs: number): StreamedArguments | undefined {
    const before = this.#calls.get(piece.id);
    if (before?.hasBegun === true || (before?.attempt ?? 0) > piece.attempt) return undefined;
    const known = before?.attempt === piece.attempt ? before : undefined;
    const { text = '', toolCallId } = known ?? {};
    if (offset > text.length) return undefined;
    const added = piece.text.slice(text.length - offset);
    this.#calls.set(piece.id, {
      ...(toolCallId === undefined ? {} : { toolCallId }),
      ...piece,
      ...{ text: text + added, atMs: nowMs },
    });
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > MAX_CALLS && oldest !== undefined) this.#calls.delete(oldest);
    const isNews = added !== '' || known === undefined;
    return isNews ? { ...piece, offset: text.length, text: added } : undefined;
  }

  /** Takes away the call that a new message shows; where its provider named it late, the first of its tool. */
  begins({ author, metadata = {} }: SpaceMessage): void {
    const { toolName, toolCallId } = metadata;
    const own = [...this.#calls.values()].filter(
      ({ hasBegun, ...call }) =>
        hasBegun !== true && isSameMember(call.author, author) && call.toolName === toolName,
    );
    const call =
      own.find((it) => it.toolCallId === toolCallId) ??
      own.find((it) => it.toolCallId === undefined);
    if (call !== undefined) this.#calls.set(call.id, { ...call, hasBegun: true });
  }

  /** Takes away the calls of which nothing has come for long. Returns whether there were any. */
  forget(nowMs: number): boolean {
    const old = [...this.#calls.values()].filter(({ atMs }) => nowMs - atMs >= FORGET_MS);
    for (const { id } of old) this.#calls.delete(id);
    return old.length > 0;
  }

  clear(): void {
    this.#calls.clear();
  }
}

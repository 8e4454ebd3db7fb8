/**
 * The stream of a model call: live deltas for watchers, and the text so far for a turn that is cancelled half-way.
 *
 * I1 The first delta goes out at once, later ones within `DELTA_DELAY_MS`, merged.
 * I2 Deltas of a message leave in their order of arrival; offsets count all of its text, sent or not.
 * I3 Every delta can be written as UTF-8: when a provider splits a surrogate pair, its first half leaves with the
 *    second.
 * I4 A watcher who joins later receives the output sent until then, from offset 0 on; other watchers recognise it by
 *    its offset.
 */

import type { LiveEvent, ToolArgumentsDelta } from '../../protocol/log/live-events.js';
import type { ModelStreamEvent } from '../../protocol/model/model.js';
import { wellFormed } from '../../protocol/values/well-formed.js';
import type { CallModelResult } from '../../protocol/workflow/activities.js';

/** Too short for a reader to notice; one message per token would be wasteful. */
const DELTA_DELAY_MS = 30;

/** Without the flag `u`, so that it matches at the end of a text. */
const FIRST_HALF = /[\ud800-\udbff]$/;

/** The step and attempt that deltas belong to. */
export interface StreamOrigin {
  readonly turnId: string;
  readonly step: number;
  readonly attempt: number;
  readonly messageId: string;
}

type ProgressEvent = Extract<ModelStreamEvent, { type: 'provider_call_progress' }>;
type TextPiece = Exclude<ModelStreamEvent, { type: 'provider_call' | 'provider_call_progress' }>;
type Piece = TextPiece | (ProgressEvent & { readonly text: string });

interface Run {
  readonly event: Piece;
  readonly offset: number;
  text: string;
}

export class ModelStream {
  readonly #origin: StreamOrigin;
  readonly #publish: (event: LiveEvent) => void;
  readonly #repeat: (event: LiveEvent) => void;
  readonly #offsets = new Map<string, number>();
  /** Ends of texts that may be the first half of a pair. A first half that no second one follows is not shown. */
  readonly #halves = new Map<string, string>();
  /** Sent texts, whole, by the key whose offsets they count; and sent events without offsets. */
  readonly #sent = new Map<string, Run>();
  readonly #published: LiveEvent[] = [];
  #onArguments: ((delta: ToolArgumentsDelta) => void) | undefined;
  readonly #parts: { readonly type: 'text' | 'reasoning'; text: string }[] = [];
  #waiting: Run[] = [];
  #timer: NodeJS.Timeout | undefined;
  #repeatTimer: NodeJS.Timeout | undefined;
  #lastFlushAt = Number.NEGATIVE_INFINITY;
  #closed = false;

  /** @param repeat Sends earlier output to watchers who joined later. */
  constructor(
    origin: StreamOrigin,
    publish: (event: LiveEvent) => void,
    repeat: (event: LiveEvent) => void = () => undefined,
  ) {
    this.#origin = origin;
    this.#publish = publish;
    this.#repeat = repeat;
  }

  begin(model: string): void {
    this.#emit({ type: 'model_call_started', ...this.#origin, model });
  }

  /** Passes the arguments of calls to one more listener, in the same pieces. It must not throw. */
  onArguments(listener: (delta: ToolArgumentsDelta) => void): void {
    this.#onArguments = listener;
  }

  /** Called when a watcher joins. Watchers who join at about the same time receive one repeat together. */
  joined(): void {
    if (this.#closed) return;
    this.#repeatTimer ??= setTimeout(() => {
      this.#repeatTimer = undefined;
      this.flush();
      for (const event of this.#published) this.#repeat(event);
      for (const run of this.#sent.values()) this.#repeat(liveEventOf(this.#origin, run));
    }, DELTA_DELAY_MS);
  }

  /** Takes one piece from the adapter. Pieces after `close` are dropped: another attempt may be streaming by then. */
  take(event: ModelStreamEvent): void {
    if (this.#closed) return;
    if (event.type === 'provider_call') {
      // Earlier text is shown before the call.
      this.flush();
      const { id: providerCallId, name } = event;
      this.#emit({ type: 'provider_call_started', ...this.#origin, providerCallId, name });
      return;
    }
    if (event.type !== 'provider_call_progress') {
      this.#keep(event);
      this.#add(event);
      return;
    }
    const { text } = event;
    if (text !== undefined) this.#add({ ...event, text });
    else {
      // Earlier output is shown before the progress.
      this.flush();
      const { id: providerCallId, name, status } = event;
      const progress = { type: 'provider_call_progress', providerCallId, name, status } as const;
      this.#publish({ ...progress, ...this.#origin });
    }
  }

  /** Sends waiting output and ends the stream. Safe to repeat. */
  close(): void {
    this.flush();
    clearTimeout(this.#repeatTimer);
    this.#closed = true;
  }

  /** Text and reasoning so far, in order, without unfinished calls. */
  partsSoFar(): CallModelResult['parts'] {
    return this.#parts.map(({ type, text }) => ({ type, text }));
  }

  #emit(event: LiveEvent): void {
    this.#published.push(event);
    this.#publish(event);
  }

  #add(event: Piece): void {
    const key = keyOf(event);
    const text = this.#whole(key, event.text);
    if (text === '' && event.text !== '') return;
    const offset = this.#offsets.get(key) ?? 0;
    this.#offsets.set(key, offset + text.length);
    const last = this.#waiting.at(-1);
    if (last !== undefined && keyOf(last.event) === key) last.text += text;
    else this.#waiting.push({ event, offset, text });
    if (this.#timer !== undefined) return;
    const waitMs = this.#lastFlushAt + DELTA_DELAY_MS - performance.now();
    if (waitMs <= 0) this.flush();
    else
      this.#timer = setTimeout(() => {
        this.flush();
      }, waitMs);
  }

  /**
   * The part of the text that can be shown after this piece: whole characters, as long in UTF-16 units as the input.
   */
  #whole(key: string, piece: string): string {
    const text = (this.#halves.get(key) ?? '') + piece;
    const end = text.replace(FIRST_HALF, '').length;
    this.#halves.set(key, text.slice(end));
    return wellFormed(text.slice(0, end));
  }

  #keep(event: TextPiece): void {
    if (event.type === 'tool_arguments') return;
    const last = this.#parts.at(-1);
    if (last?.type === event.type) last.text += event.text;
    else if (event.text !== '') this.#parts.push({ type: event.type, text: event.text });
  }

  /** Sends waiting output. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.length === 0) return;
    const runs = this.#waiting;
    this.#waiting = [];
    this.#lastFlushAt = performance.now();
    for (const run of runs) {
      const event = liveEventOf(this.#origin, run);
      this.#publish(event);
      if (event.type === 'tool_arguments_delta') this.#onArguments?.(event);
      const key = keyOf(run.event);
      const sent = this.#sent.get(key);
      if (sent === undefined) this.#sent.set(key, run);
      else sent.text += run.text;
    }
  }
}

function keyOf(event: Piece): string {
  if (event.type === 'provider_call_progress') return `hosted ${event.id} ${event.status}`;
  return event.type === 'tool_arguments' ? `call ${event.index}` : event.type;
}

function liveEventOf(origin: StreamOrigin, { event, offset, text }: Run): LiveEvent {
  switch (event.type) {
    case 'text':
      return { type: 'text_delta', ...origin, offset, text };
    case 'reasoning':
      return { type: 'reasoning_delta', ...origin, offset, text };
    case 'provider_call_progress': {
      const { id: providerCallId, name, status } = event;
      return { type: event.type, ...origin, providerCallId, name, status, offset, text };
    }
    case 'tool_arguments': {
      const { index, name, id } = event;
      return {
        type: 'tool_arguments_delta',
        ...origin,
        index,
        ...(name === undefined ? {} : { name }),
        ...(id === undefined || id === '' ? {} : { toolCallId: id }),
        offset,
        text,
      };
    }
  }
}

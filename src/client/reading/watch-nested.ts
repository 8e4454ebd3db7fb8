/** The stream of a conversation with the live events of its sub-agents between. */
import type { ChildStep } from '../../protocol/conversation/children.js';
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { ConversationId, ConversationKey } from '../../protocol/values/ids.js';
import type { ConversationReader, ReadPosition, WatchFrame } from '../ports/reader.js';

type NestedFrame = Extract<WatchFrame, { type: 'nested' }>;

type Reader = Pick<ConversationReader, 'watch' | 'snapshot'>;

/** Live events that wait for a slow watcher; more are lost, as live events may be. */
const MAX_WAITING = 256;

/**
 * The frames of `reader.watch`, in their order, and between them frames `nested` of all sub-agents at work below, at any
 * depth. The log of a sub-agent is not part of it, and nested frames do not move the position.
 */
export async function* watchNested(
  reader: Reader,
  key: ConversationKey,
  options: ReadPosition & { readonly signal: AbortSignal },
): AsyncGenerator<WatchFrame> {
  const left = new AbortController();
  const signal = AbortSignal.any([options.signal, left.signal]);
  const frames = new FrameQueue();
  const below = new WatchedChildren({ reader, key, signal }, (frame) => {
    frames.offer(frame);
  });
  const position = options.after === undefined ? {} : { after: options.after };
  const own = async (): Promise<void> => {
    await below.begin(position.after !== undefined);
    for await (const frame of reader.watch(key, { ...position, signal })) {
      if (frame.type === 'event') below.note(frame.event);
      await frames.put(frame);
    }
  };
  own().then(
    () => {
      frames.end();
    },
    (error: unknown) => {
      frames.end(error);
    },
  );
  signal.addEventListener('abort', () => {
    frames.end();
  });
  try {
    yield* frames.all();
  } finally {
    left.abort();
  }
}

interface Watched {
  readonly reader: Reader;
  readonly key: ConversationKey;
  readonly signal: AbortSignal;
}

/** The sub-agents of one conversation that are at work. */
class WatchedChildren {
  readonly #watched: Watched;
  readonly #offer: (frame: NestedFrame) => void;
  readonly #open = new Map<ConversationId, AbortController>();
  /** The log up to here is in the snapshot. */
  #seenSeq = 0;

  constructor(watched: Watched, offer: (frame: NestedFrame) => void) {
    this.#watched = watched;
    this.#offer = offer;
  }

  /** @param fromSnapshot false: the log will be read from its start, and has all that began */
  async begin(fromSnapshot: boolean): Promise<void> {
    if (!fromSnapshot) return;
    const { reader, key } = this.#watched;
    const snapshot = await reader.snapshot(key);
    for (const child of childrenIn(snapshot)) this.#follow(child);
    this.#seenSeq = snapshot?.seq ?? 0;
  }

  note(event: CanonicalEvent): void {
    if (event.type !== 'child_changed' || event.seq <= this.#seenSeq) return;
    const { childId, toolCallId, name, status } = event;
    if (status === 'started') this.#follow({ childId, toolCallId, name });
    if (status === 'ended') this.#leave(childId);
  }

  #follow({ childId, toolCallId, name }: Child): void {
    if (this.#open.has(childId)) return;
    const { reader, key, signal } = this.#watched;
    const end = new AbortController();
    this.#open.set(childId, end);
    const { conversationId, tenant } = key;
    const step = { conversationId, toolCallId, name };
    const childKey = { tenant, conversationId: childId };
    const pump = async (): Promise<void> => {
      const until = AbortSignal.any([signal, end.signal]);
      for await (const frame of watchNested(reader, childKey, { signal: until })) {
        if (frame.type === 'live')
          this.#offer({
            type: 'nested',
            conversationId: childId,
            path: [step],
            event: frame.event,
          });
        if (frame.type === 'nested') this.#offer({ ...frame, path: [step, ...frame.path] });
      }
    };
    // A sub-agent that cannot be read has no live events here; its caller's log goes on.
    pump().catch(() => undefined);
  }

  #leave(childId: ConversationId): void {
    this.#open.get(childId)?.abort();
    this.#open.delete(childId);
  }
}

interface Child {
  readonly childId: ConversationId;
  readonly toolCallId: ChildStep['toolCallId'];
  readonly name: string;
}

function childrenIn(snapshot: ConversationSnapshot | undefined): readonly Child[] {
  return (snapshot?.inFlightTools ?? []).flatMap(({ childId, toolCallId, name }) =>
    childId === undefined ? [] : [{ childId, toolCallId, name }],
  );
}

/** Frames for one consumer: those of the log wait for it, live ones are lost while it is slow. */
class FrameQueue {
  readonly #waiting: WatchFrame[] = [];
  #live = 0;
  #wake: (() => void) | undefined;
  #taken: (() => void) | undefined;
  /** The frames end here, or by this rejection. */
  #end: Promise<void> | undefined;

  /** Resolves when the consumer has taken the frame, or will take no more. */
  async put(frame: WatchFrame): Promise<void> {
    if (this.#end !== undefined) return;
    this.#waiting.push(frame);
    this.#wake?.();
    await new Promise<void>((resolve) => {
      this.#taken = resolve;
    });
  }

  offer(frame: NestedFrame): void {
    if (this.#live >= MAX_WAITING) return;
    this.#live += 1;
    this.#waiting.push(frame);
    this.#wake?.();
  }

  end(error?: unknown): void {
    this.#end ??= error === undefined ? Promise.resolve() : Promise.reject(toError(error));
    // Awaited when the frames before are taken, if ever.
    this.#end.catch(() => undefined);
    this.#wake?.();
    this.#taken?.();
  }

  async *all(): AsyncGenerator<WatchFrame> {
    for (;;) {
      for (let frame = this.#waiting.shift(); frame !== undefined; frame = this.#waiting.shift()) {
        if (frame.type === 'nested') this.#live -= 1;
        yield frame;
        if (frame.type !== 'nested') this.#taken?.();
      }
      if (this.#end !== undefined) break;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    await this.#end;
  }
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

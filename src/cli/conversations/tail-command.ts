/** `colloquy tail` and `colloquy export`: the log of a conversation, for people and for programs. */
import type { Conversation } from '../../client/conversation.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import { eventLine } from './event-line.js';
import { type CommonFlags, withClient } from './opened.js';

export interface TailFlags extends CommonFlags {
  readonly follow?: boolean;
  /** The number of events before those that come. */
  readonly last: number;
}

/** Prints the last events, and with `--follow` those that come, until the conversation is closed or at Ctrl-C. */
export async function runTail(id: string, flags: TailFlags): Promise<never> {
  return await withClient(flags, async ({ client, print }) => {
    const conversation = client.conversation(id);
    const show = (event: CanonicalEvent): void => {
      print(flags.json === true ? JSON.stringify(event) : eventLine(event));
    };
    const page = await conversation.events({ before: 'end', limit: Math.max(1, flags.last) });
    for (const event of page.events.slice(0, flags.last).toReversed()) show(event);
    const isClosed = page.events[0]?.type === 'conversation_closed';
    if (flags.follow === true && !isClosed)
      await follow(conversation, page.tail ?? page.cursor, show);
    return 0;
  });
}

async function follow(
  conversation: Conversation,
  after: NonNullable<Parameters<Conversation['subscribe']>[0]>['after'],
  show: (event: CanonicalEvent) => void,
): Promise<void> {
  const left = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      left.abort();
    });
  for await (const frame of conversation.subscribe({ after, signal: left.signal })) {
    if (frame.type !== 'event') continue;
    show(frame.event);
    if (frame.event.type === 'conversation_closed') return;
  }
}

/** Writes the whole log, one event of JSON on each line. */
export async function runExport(id: string, flags: CommonFlags): Promise<never> {
  return await withClient(flags, async ({ client, print }) => {
    const conversation = client.conversation(id);
    for (let page = await conversation.events(); ; ) {
      for (const event of page.events) print(JSON.stringify(event));
      if (!page.more) return 0;
      page = await conversation.events({ after: page.cursor });
    }
  });
}

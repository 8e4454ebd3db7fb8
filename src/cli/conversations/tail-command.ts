/** `colloquy tail` and `colloquy export`: the log of a conversation, for people and for programs. */
import { invalidField } from '../../client/api/errors.js';
import type { Conversation } from '../../client/conversation.js';
import { testFileOf } from '../../projection/exports/test-file.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import { Progress } from '../terminal/progress.js';
import { eventLine } from './event-line.js';
import { type CommonFlags, withClient } from './opened.js';

export interface TailFlags extends CommonFlags {
  readonly follow?: boolean;
  /** Follow until the turn that runs has ended. */
  readonly untilIdle?: boolean;
  /** The number of events before those that come. */
  readonly last: number;
}

/**
 * Prints the last events, and with `--follow` those that come, until the conversation is closed or at Ctrl-C; with
 * `--until-idle` until its turn has ended.
 */
export async function runTail(id: string, flags: TailFlags): Promise<never> {
  return await withClient(flags, async ({ client, print }) => {
    const conversation = client.conversation(id);
    const show = (event: CanonicalEvent): void => {
      print(flags.json === true ? JSON.stringify(event) : eventLine(event));
    };
    const page = await conversation.events({ before: 'end', limit: Math.max(1, flags.last) });
    for (const event of page.events.slice(0, flags.last).toReversed()) show(event);
    const ends: readonly CanonicalEvent['type'][] =
      flags.untilIdle === true ? ['turn_ended', 'conversation_closed'] : ['conversation_closed'];
    const isOver = ({ type }: CanonicalEvent): boolean => ends.includes(type);
    const [last] = page.events;
    const follows = flags.follow === true || flags.untilIdle === true;
    if (follows && !(last !== undefined && isOver(last)))
      await follow(conversation, page.tail ?? page.cursor, (event) => {
        show(event);
        return isOver(event);
      });
    return 0;
  });
}

async function follow(
  conversation: Conversation,
  after: NonNullable<Parameters<Conversation['subscribe']>[0]>['after'],
  /** Returns whether the event is the last one to follow. */
  show: (event: CanonicalEvent) => boolean,
): Promise<void> {
  const left = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      left.abort();
    });
  for await (const frame of conversation.subscribe({ after, signal: left.signal })) {
    if (frame.type !== 'event') continue;
    if (show(frame.event)) return;
  }
}

export interface ExportFlags extends CommonFlags {
  /** @defaultValue events */
  readonly format?: string;
  readonly from?: string;
}

/** Writes the whole log, one event of JSON on each line, or a test that plays the conversation again. */
export async function runExport(id: string, flags: ExportFlags): Promise<never> {
  const { format = 'events', from } = flags;
  if (format !== 'events' && format !== 'test')
    throw invalidField('--format', 'must be events or test');
  return await withClient(flags, async ({ client, print }) => {
    const events: CanonicalEvent[] = [];
    // Events on the same terminal are the progress.
    const progress = new Progress('events', process.stdout.isTTY ? undefined : process.stderr);
    for await (const event of logOf(client.conversation(id), progress))
      if (format === 'test') events.push(event);
      else print(JSON.stringify(event));
    if (format === 'test') print(testFileOf(events, from === undefined ? {} : { from }));
    return 0;
  });
}

/** The whole log of its newest generation. */
export async function* logOf(
  conversation: Pick<Conversation, 'events'>,
  progress: Progress,
): AsyncGenerator<CanonicalEvent> {
  const [last] = progress.isShown
    ? (await conversation.events({ before: 'end', limit: 1 })).events
    : [];
  let done = 0;
  for (let page = await conversation.events(); ; ) {
    yield* page.events;
    done += page.events.length;
    progress.at(done, last?.seq);
    if (!page.more) {
      progress.end();
      return;
    }
    page = await conversation.events({ after: page.cursor });
  }
}

/** `colloquy pending`: the calls that wait, each with the command that answers it. */
import type { Conversation } from '../../client/conversation.js';
import type { ConversationClient } from '../../client/conversation-client.js';
import { excludesRequester, outsideReason } from '../../core/calls/audience.js';
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { JudgedActor } from '../../protocol/values/actors.js';
import { requestersInLog } from '../../store/plans/pending.js';
import { commandFor } from './answer-flags.js';
import {
  type ActorFlags,
  asJson,
  type CommonFlags,
  optionsAgain,
  printNextPage,
  withClient,
} from './opened.js';
import { type WaitingCall, waitingLines } from './waiting-lines.js';

export interface PendingFlags extends ActorFlags {
  readonly for?: string;
  /** The most conversations of a page. */
  readonly limit: number;
  readonly cursor?: string;
}

/** With `--for`, only what that user may answer; soonest deadline first. */
export async function runPending(id: string | undefined, flags: PendingFlags): Promise<never> {
  return await withClient(flags, async ({ client, print }) => {
    const { conversations, nextCursor } = await pageOf(client, id, flags);
    const waiting = await waitingCalls(client, conversations, personOf(flags));
    if (flags.json === true) {
      const pending = waiting.map(({ snapshot: { conversationId }, call }) => ({
        conversationId,
        ...call,
      }));
      print(asJson({ pending, nextCursor }));
      return 0;
    }
    if (waiting.length === 0) print('Nothing waits.');
    for (const call of waiting) print(waitingText(call, flags));
    printNextPage(print, nextCursor);
    return 0;
  });
}

async function pageOf(client: ConversationClient, id: string | undefined, flags: PendingFlags) {
  if (id !== undefined)
    return {
      conversations: [await client.conversation(id).snapshot()],
      nextCursor: undefined,
    };
  const { tenant, limit, cursor } = flags;
  const person = personOf(flags);
  return await client.list({
    ...(tenant === undefined ? {} : { tenant }),
    ...(person === undefined ? { status: 'awaiting_input' as const } : { pendingFor: person }),
    ...(cursor === undefined ? {} : { cursor }),
    limit,
  });
}

function personOf({ for: id, role }: PendingFlags): JudgedActor | undefined {
  if (id === undefined) return undefined;
  return { id, verified: true, ...(role === undefined ? {} : { roles: role }) };
}

/** The waiting calls of conversations; those that the person may answer, where one is given. */
export async function waitingCalls(
  client: Pick<ConversationClient, 'conversation'>,
  conversations: readonly ConversationSnapshot[],
  person?: JudgedActor,
): Promise<readonly WaitingCall[]> {
  const waiting: WaitingCall[] = [];
  for (const snapshot of conversations) {
    const { conversationId, tenant, pending } = snapshot;
    const needsLog = pending.some(
      ({ audience }) => audience !== undefined && excludesRequester(audience),
    );
    const log = needsLog ? await wholeLog(client.conversation(conversationId, { tenant })) : [];
    for (const call of pending) {
      const requesters = requestersInLog(log, call.turnId);
      const isOutside =
        person !== undefined &&
        outsideReason(call.audience ?? {}, person, requesters) !== undefined;
      if (!isOutside) waiting.push({ snapshot, call, requesters });
    }
  }
  return waiting;
}

/** Oldest event first. */
async function wholeLog(conversation: Pick<Conversation, 'events'>) {
  const events: CanonicalEvent[] = [];
  for (let page = await conversation.events(); ; ) {
    events.push(...page.events);
    if (!page.more) return events;
    page = await conversation.events({ after: page.cursor });
  }
}

/** `data`: the folder of the event log, where an option names it. */
export function waitingText(waiting: WaitingCall, { data }: Pick<CommonFlags, 'data'>): string {
  return waitingLines(
    {
      // The tenant is in the ref.
      commandFor: ({ call }, answer) => commandFor(call, answer, optionsAgain({ data })),
      withoutCommand: 'Its audience names no person that a command could name.',
    },
    waiting,
  ).join('\n');
}

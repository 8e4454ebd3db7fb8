/** `colloquy list` and `colloquy show`: conversations, and what one of them does. */
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import type { StatusFilter } from '../../protocol/conversation/statuses.js';
import { asJson, type CommonFlags, printNextPage, withClient } from './opened.js';
import { waitingCalls, waitingText } from './pending-command.js';
import { oneLine, table } from './text.js';

export interface ListFlags extends CommonFlags {
  readonly status?: StatusFilter;
  readonly agent?: string;
  readonly limit: number;
  readonly cursor?: string;
}

export async function runList(flags: ListFlags): Promise<never> {
  return await withClient(flags, async ({ client, print }) => {
    const { tenant, status, agent, limit, cursor } = flags;
    const page = await client.list({
      ...(tenant === undefined ? {} : { tenant }),
      ...(status === undefined ? {} : { status }),
      ...(agent === undefined ? {} : { agent }),
      ...(cursor === undefined ? {} : { cursor }),
      limit,
    });
    if (flags.json === true) {
      print(asJson(page));
      return 0;
    }
    const { conversations, nextCursor } = page;
    print(conversations.length === 0 ? 'No conversation.' : listed(conversations));
    printNextPage(print, nextCursor);
    return 0;
  });
}

function listed(conversations: readonly ConversationSnapshot[]): string {
  return table(
    ['ID', 'TITLE', 'AGENT', 'STATUS', 'WAITS FOR', 'UPDATED'],
    conversations.map(({ conversationId, title, agent, status, pending, updatedAt }) => [
      conversationId,
      title === undefined ? '-' : oneLine(title, 40),
      agent,
      status,
      pending.length === 0 ? '-' : oneLine(pending.map(({ name }) => name).join(', '), 40),
      updatedAt,
    ]),
  );
}

export async function runShow(id: string, flags: CommonFlags): Promise<never> {
  return await withClient(flags, async ({ client, print }) => {
    const snapshot = await client.conversation(id).snapshot();
    if (flags.json === true) print(asJson(snapshot));
    else {
      print(shown(snapshot));
      for (const call of await waitingCalls(client, [snapshot])) print(waitingText(call, flags));
    }
    return 0;
  });
}

function shown(snapshot: ConversationSnapshot): string {
  const { conversationId, tenant, agent, status, seq, turn, queued, inFlightTools } = snapshot;
  const { title, startedAt, updatedAt, usage } = snapshot;
  const running = inFlightTools.map(
    ({ toolCallId, name, childId }) =>
      `runs      ${oneLine(name)}  ${oneLine(toolCallId)}${childId === undefined ? '' : `  sub-agent ${childId}`}`,
  );
  return [
    `${conversationId}  ${status}`,
    ...(title === undefined ? [] : [`title     ${oneLine(title)}`]),
    `agent     ${agent}   tenant ${tenant}`,
    `since     ${startedAt}   last event ${seq} at ${updatedAt}`,
    ...(turn === undefined ? [] : [`turn      ${turn.turnId}  step ${turn.step}`]),
    ...(queued.length === 0 ? [] : [`queued    ${queued.length} more turns`]),
    ...running,
    `usage     ${usage.inputTokens} tokens in, ${usage.outputTokens} out`,
  ].join('\n');
}

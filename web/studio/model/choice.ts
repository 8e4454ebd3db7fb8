/** The filters of the list of conversations, as the address of the page has them. Pure. */
import type {
  ConversationSnapshot,
  ConversationsChoice,
  StatusFilter,
} from 'colloquy/browser/studio';

export const STATUSES: readonly (readonly [StatusFilter, string])[] = [
  ['active', 'open, and waits for no answer'],
  ['idle', 'idle'],
  ['streaming', 'the model answers'],
  ['executing_tools', 'tools run'],
  ['awaiting_input', 'waits for an answer'],
  ['failing', 'workflow fails'],
  ['slow', 'workflow is slow'],
  ['closed', 'closed'],
];

export interface ListChoice {
  readonly status?: StatusFilter;
  readonly agent?: string;
  /** Only conversations whose agent no worker serves. */
  readonly attention?: true;
  /** Part of an id, among the conversations that are read. */
  readonly search?: string;
}

export function choiceIn(query: URLSearchParams): ListChoice {
  const status = STATUSES.find(([name]) => name === query.get('status'))?.[0];
  const [agent, search] = [query.get('agent') ?? '', query.get('search') ?? ''];
  return {
    ...(status === undefined ? {} : { status }),
    ...(agent === '' ? {} : { agent }),
    ...(query.get('attention') === 'true' ? { attention: true } : {}),
    ...(search === '' ? {} : { search }),
  };
}

/** The choice with other filters; `undefined` takes one away. */
export function changed(
  choice: ListChoice,
  part: { readonly [Name in keyof ListChoice]?: ListChoice[Name] | undefined },
): ListChoice {
  const all = Object.entries({ ...choice, ...part });
  return Object.fromEntries(all.filter(([, value]) => value !== undefined));
}

/** The query of the address; empty where nothing is filtered. */
export function queryOf(choice: ListChoice): string {
  const given = Object.entries(choice).map(([name, value]): [string, string] => [
    name,
    String(value),
  ]);
  const text = new URLSearchParams(given).toString();
  return text === '' ? '' : `?${text}`;
}

/** The part that the API filters by. */
export function askedOf({ status, agent, attention }: ListChoice): ConversationsChoice {
  return {
    ...(status === undefined ? {} : { status }),
    ...(agent === undefined ? {} : { agent }),
    ...(attention === undefined ? {} : { attention: 'agent_not_served' }),
  };
}

export function matching(
  conversations: readonly ConversationSnapshot[],
  { search = '' }: ListChoice,
): readonly ConversationSnapshot[] {
  const wanted = search.toLowerCase();
  return conversations.filter(({ conversationId }) =>
    conversationId.toLowerCase().includes(wanted),
  );
}

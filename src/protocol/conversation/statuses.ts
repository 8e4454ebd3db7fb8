/**
 * The one vocabulary of a conversation's status: in the store, over HTTP, in the client, in lists, in search attributes
 * and on the page of the Temporal UI. A new status is a row here. Search attributes have only the three words of
 * `search`: each write of one costs history, so they are written when calls begin or end to wait, not with every step
 * of a turn.
 */
interface StatusRow {
  /** The value of the search attribute. */
  readonly search: 'active' | 'awaiting_input' | 'closed';
  readonly meaning: string;
}

const STATUSES = {
  idle: { search: 'active', meaning: 'no turn runs, and no call waits for input from outside' },
  streaming: { search: 'active', meaning: 'a turn runs: the model is called, or about to be' },
  executing_tools: {
    search: 'active',
    meaning: 'a turn runs: tools run, and no awaited call needs input from outside',
  },
  awaiting_input: {
    search: 'awaiting_input',
    meaning:
      'a call waits for a person, a client or another backend: one that the turn waits for, or, while no turn runs, a detached one',
  },
  failing: {
    search: 'active',
    meaning:
      'its workflow tasks fail, more than three times in a row; seen from outside, overrides the status by the log, and is in no search attribute',
  },
  slow: {
    search: 'active',
    meaning:
      'its workflow tasks time out, more than three times in a row; seen from outside, overrides the status by the log, and is in no search attribute',
  },
  closed: { search: 'closed', meaning: 'it accepts no input, unless it is reopened' },
} as const satisfies Readonly<Record<string, StatusRow>>;

export type ConversationStatus = keyof typeof STATUSES;
export type SearchStatus = StatusRow['search'];

export const CONVERSATION_STATUSES = Object.keys(STATUSES) as readonly ConversationStatus[];

/** A filter of lists: a status, or `active` for all that are open and do not await input. */
export type StatusFilter = ConversationStatus | 'active';
export const STATUS_FILTERS: readonly StatusFilter[] = [...CONVERSATION_STATUSES, 'active'];

/** The statuses that a filter matches. */
export function statusesOf(filter: StatusFilter): readonly ConversationStatus[] {
  return filter === 'active'
    ? CONVERSATION_STATUSES.filter((status) => STATUSES[status].search === 'active')
    : [filter];
}

/** The status of an open conversation. */
export function openStatus(seen: {
  readonly hasTurn: boolean;
  /** Calls that the turn waits for, and all that wait for input from outside. */
  readonly awaited: number;
  readonly pending: number;
  /** Running tools that the turn waits for. */
  readonly working: number;
}): Exclude<ConversationStatus, 'closed' | 'failing' | 'slow'> {
  const { hasTurn, awaited, pending, working } = seen;
  if (!hasTurn) return pending > 0 ? 'awaiting_input' : 'idle';
  if (awaited > 0) return 'awaiting_input';
  return working > 0 ? 'executing_tools' : 'streaming';
}

/** The search attribute of an open conversation, as of the last time that a call began or ended to wait. */
export function openSearchStatus(pending: number): SearchStatus {
  return pending > 0 ? 'awaiting_input' : 'active';
}

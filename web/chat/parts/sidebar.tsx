/** The conversations of the agent, and the way to a new one. */
import { agoWords } from 'colloquy/react';
import type { MouseEvent, ReactNode } from 'react';
import type { Listed } from '../../shared/lists/listed.js';
import { useCoarseNow } from '../../shared/now.js';
import { type Unsent, useFailed } from '../hooks/unsent.js';
import { type Address, pathOf } from '../hooks/use-address.js';

/** The page shows the age of older changes, to the minute. */
const MINUTE_MS = 60_000;

const MAX_TITLE_CHARS = 80;

export interface SidebarProps {
  readonly agent: string;
  /** The conversation that is shown. */
  readonly id: string;
  readonly listed: Listed;
  readonly unsent: Unsent;
  readonly onGo: (address: Address) => void;
}

export function Sidebar({ agent, id, listed, unsent, onGo }: SidebarProps): ReactNode {
  const { view, loadMore } = listed;
  const { conversations, isRead, hasMore, connection } = view;
  const failed = useFailed(unsent, agent);
  const isListed = (one: string): boolean =>
    conversations.some(({ conversationId }) => conversationId === one);
  const now = useCoarseNow(MINUTE_MS);
  return (
    <nav className="conversations" aria-label={`Conversations of ${agent}`}>
      <PlaceLink address={{ agent }} onGo={onGo}>
        New conversation
      </PlaceLink>
      {connection.state === 'refused' ? (
        <p className="error">{connection.problem.detail}</p>
      ) : undefined}
      {isRead && conversations.length === 0 ? <p className="hint">None yet.</p> : undefined}
      <ul>
        {failed
          .filter((one) => !isListed(one.id))
          .map((one) => (
            <li key={one.id}>
              <PlaceLink address={{ agent, id: one.id }} isCurrent={one.id === id} onGo={onGo}>
                {one.text === '' ? one.id : one.text.slice(0, MAX_TITLE_CHARS)}
              </PlaceLink>
              <span className="error"> message not sent</span>
            </li>
          ))}
        {conversations.map(({ conversationId, title, status, pending, updatedAt }) => (
          <li key={conversationId}>
            <PlaceLink
              address={{ agent, id: conversationId }}
              isCurrent={conversationId === id}
              onGo={onGo}
            >
              {title ?? conversationId}
            </PlaceLink>
            <span className="hint">
              {' '}
              {status.replaceAll('_', ' ')}
              {pending.length === 0 ? '' : `, ${pending.length} waiting`}
              {`, ${changedWords(updatedAt, now)}`}
            </span>
            {failed.some((one) => one.id === conversationId) ? (
              <span className="error"> message not sent</span>
            ) : undefined}
          </li>
        ))}
      </ul>
      {hasMore ? (
        <button type="button" onClick={loadMore}>
          Show more
        </button>
      ) : undefined}
    </nav>
  );
}

function changedWords(at: string, now: number): string {
  return now - Date.parse(at) < MINUTE_MS ? 'just now' : agoWords(at, now);
}

/** A link of the page: a plain click stays in the document. */
export function PlaceLink(props: {
  readonly address: Address;
  readonly isCurrent?: boolean;
  readonly onGo: (address: Address) => void;
  readonly children: ReactNode;
}): ReactNode {
  const { address, isCurrent = false, onGo, children } = props;
  const onClick = (event: MouseEvent): void => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    onGo(address);
  };
  return (
    <a href={pathOf(address)} aria-current={isCurrent ? 'page' : undefined} onClick={onClick}>
      {children}
    </a>
  );
}

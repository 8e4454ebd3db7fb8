/** The conversations of the agent, and the way to a new one. */
import type { MouseEvent, ReactNode } from 'react';
import { type Address, pathOf } from '../hooks/use-address.js';
import type { Listed } from '../hooks/use-conversations.js';

export interface SidebarProps {
  readonly agent: string;
  /** The conversation that is shown. */
  readonly id: string;
  readonly listed: Listed;
  readonly onGo: (address: Address) => void;
}

export function Sidebar({ agent, id, listed, onGo }: SidebarProps): ReactNode {
  const { conversations, isRead, problem } = listed;
  return (
    <nav className="conversations" aria-label={`Conversations of ${agent}`}>
      <PlaceLink address={{ agent }} onGo={onGo}>
        New conversation
      </PlaceLink>
      {problem === undefined ? undefined : <p className="error">{problem}</p>}
      {isRead && conversations.length === 0 ? <p className="hint">None yet.</p> : undefined}
      <ul>
        {conversations.map(({ conversationId, status, pending }) => (
          <li key={conversationId}>
            <PlaceLink
              address={{ agent, id: conversationId }}
              isCurrent={conversationId === id}
              onGo={onGo}
            >
              {conversationId}
            </PlaceLink>
            <span className="hint">
              {' '}
              {status.replaceAll('_', ' ')}
              {pending.length === 0 ? '' : `, ${pending.length} waiting`}
            </span>
          </li>
        ))}
      </ul>
    </nav>
  );
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

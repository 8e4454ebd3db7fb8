/** The parts of the page that every face has: its properties, its header, and the state of its connection. */
import type { Connection } from 'colloquy/browser';
import type { ReactNode } from 'react';
import type { Session } from '../session/session.js';
import { PLACES, placeOf } from './places.js';

export interface FaceProps {
  readonly session: Session;
  readonly onSignOut: () => void;
  readonly onTenant: (tenant: string) => void;
}

/** The header: title, links to the other faces, tenant, person. Children are the commands of the face. */
export function Top(
  props: FaceProps & {
    readonly connection?: Connection;
    readonly children?: ReactNode;
  },
): ReactNode {
  const { session, onSignOut, onTenant, connection, children } = props;
  const { actor, tenants } = session.caller;
  const { place } = placeOf(location.pathname);
  return (
    <header className="top">
      <h1>{place.title}</h1>
      <nav aria-label="Pages">
        {PLACES.map(({ name, path, title }) => (
          <a key={name} href={path} aria-current={path === place.path ? 'page' : undefined}>
            {title}
          </a>
        ))}
      </nav>
      {connection === undefined ? undefined : <ConnectionState connection={connection} />}
      {tenants.length < 2 ? undefined : (
        <label>
          Tenant{' '}
          <select value={session.tenant} onChange={(event) => onTenant(event.target.value)}>
            {tenants.map((tenant) => (
              <option key={tenant}>{tenant}</option>
            ))}
          </select>
        </label>
      )}
      <span className="who">{actor.name ?? actor.id}</span>
      {children}
      <button type="button" onClick={onSignOut}>
        Sign out
      </button>
    </header>
  );
}

interface Read {
  readonly connection: Connection;
  readonly isRead: boolean;
}

/** The sentence in place of a list without a row, such as that the API refuses to give it. */
export function emptyWords(
  { connection, isRead }: Read,
  words: { readonly reading: string; readonly none: string },
): string {
  if (isRead) return words.none;
  return connection.state === 'refused'
    ? `Nothing can be shown: ${connection.problem.detail}`
    : words.reading;
}

const STATES: Readonly<Record<Connection['state'], string>> = {
  off: 'Not connected',
  connecting: 'Connecting …',
  live: 'Live',
  waiting: 'The API does not answer; tries again',
  refused: 'Refused',
};

export function ConnectionState({ connection }: { readonly connection: Connection }): ReactNode {
  const { state } = connection;
  const detail = state === 'refused' ? `: ${connection.problem.detail}` : '';
  return (
    <span className={`connection ${state}`} role="status">
      {STATES[state]}
      {detail}
    </span>
  );
}

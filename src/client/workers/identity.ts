/**
 * The identity of this engine's processes in requests to Temporal, and the store id that others read from it. Processes
 * with different event logs share nothing but the Temporal server, so each puts the id of its store where the server
 * shows it to all: into its identity.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';

/**
 * An identity of this process alone, with random digits, because containers share process ids and host names. The id of
 * its event log stands at the end.
 */
export function ownIdentity(storeId: string): string {
  return `${process.pid}@${hostname()}#${randomBytes(4).toString('hex')}.${storeId}`;
}

/** The id of the event log of a process; undefined for an identity without one. */
export function storeIdIn(identity: string): string | undefined {
  return /#[0-9a-f]{8}\.([0-9a-f]{12})$/.exec(identity)?.[1];
}

/**
 * The id under which a worker announces itself in the event log, and leads its duties: its own identity, or, where the
 * application has named it and several workers may share the name, a longer one that begins with it.
 */
export function presenceIdOf(identity: string): string {
  return storeIdIn(identity) === undefined ? `${identity}${OWN}${randomUUID()}` : identity;
}

/** The identity of the worker that has this id. */
export function identityIn(presenceId: string): string {
  const [, identity] = /^(.*) \/ [0-9a-f-]{36}$/s.exec(presenceId) ?? [];
  return identity ?? presenceId;
}

const OWN = ' / ';

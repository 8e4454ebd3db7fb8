/**
 * How a process of ours signs what it asks of Temporal, and what others read from it. Processes that keep different event logs have
 * nothing in common but the Temporal server, so each tells the id of its store where the server shows it to all: in its identity.
 */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';

/** Of this process alone: containers share process ids and host names. The id of its event log stands at the end. */
export function ownIdentity(storeId: string): string {
  return `${process.pid}@${hostname()}#${randomBytes(4).toString('hex')}.${storeId}`;
}

/** The id of the store that a process of ours keeps; undefined for processes that do not tell. */
export function storeIdIn(identity: string): string | undefined {
  return /#[0-9a-f]{8}\.([0-9a-f]{12})$/.exec(identity)?.[1];
}

/**
 * The identity of this engine's processes in requests to Temporal, and the store id that others read from it. Processes
 * with different event logs share nothing but the Temporal server, so each puts the id of its store where the server
 * shows it to all: into its identity.
 */
import { randomBytes } from 'node:crypto';
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

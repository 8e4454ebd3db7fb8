/**
 * Sets how long tests and their clients wait. On a machine that is kept busy (COLLOQUY_TEST_LOAD) every condition of
 * a test may take longer; longer deadlines cost nothing where the condition comes.
 */
import type { Client } from '@temporalio/client';

const IS_LOADED = Number(process.env['COLLOQUY_TEST_LOAD'] ?? 0) > 0;

/** Factor for the deadlines of tests. */
export const PATIENCE = IS_LOADED ? 4 : 1;
/** Factor for the deadlines of their clients: 3 s become 9, or 36 beside busy loops. */
const CLIENT_PATIENCE = 3 * PATIENCE;
/** The same for API processes, which may have no worker: 12 s. */
export const PATIENT_API = { COLLOQUY_PATIENCE: String(PATIENCE) } as const;

/** A time limit of one test or hook in milliseconds, longer on a machine that is kept busy. Tests set no limit without it. */
export function patient(milliseconds: number): number {
  return milliseconds * PATIENCE;
}

/**
 * Options of a client that waits longer, most of all while `isServed`; calls that only the server answers take longer
 * in any case.
 */
export function patientOptions<Options extends object>(
  options: Options,
  isServed: () => boolean,
): Options {
  const patience = { enumerable: true, get: () => (isServed() ? CLIENT_PATIENCE : PATIENCE) };
  return Object.defineProperty({ ...options }, 'patience', patience);
}

/**
 * The same Temporal client with longer deadlines while `isServed`, for code without a conversation client: a message
 * or an answer that a worker can take then does not become a signal because the machine is slow. Without a worker a
 * test waits for the deadline, which stays as it is.
 */
export function patientClient(client: Client, isServed: () => boolean): Client {
  const withDeadline: Client['withDeadline'] = async (deadline, call) => {
    const now = Date.now();
    const left = Number(deadline) - now;
    return await client.withDeadline(now + (isServed() ? left * CLIENT_PATIENCE : left), call);
  };
  return Object.create(client, { withDeadline: { value: withDeadline } }) as Client;
}

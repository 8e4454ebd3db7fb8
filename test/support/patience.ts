/**
 * How long tests and their clients wait. One setting: on a machine that is kept busy (COLLOQUY_TEST_LOAD) everything that a test
 * waits for may take longer, and longer waits cost nothing where the condition comes.
 */
import type { Client } from '@temporalio/client';

const IS_LOADED = Number(process.env['COLLOQUY_TEST_LOAD'] ?? 0) > 0;

/** Deadlines of tests are so many times as long. */
export const PATIENCE = IS_LOADED ? 4 : 1;
/** Deadlines of their clients: 3 s become 9, or 36 beside busy loops. */
const CLIENT_PATIENCE = 3 * PATIENCE;
/** The same for API processes, of which nobody knows here whether they have a worker: 12 s. */
export const PATIENT_API = { COLLOQUY_PATIENCE: String(PATIENCE) } as const;

/** A time limit of one test or hook in milliseconds, longer on a machine that is kept busy. Tests set no limit without it. */
export function patient(milliseconds: number): number {
  return milliseconds * PATIENCE;
}

/** Options of a client that waits longer, most of all while `isServed`; what goes to the server alone takes longer in any case. */
export function patientOptions<Options extends object>(
  options: Options,
  isServed: () => boolean,
): Options {
  const patience = { enumerable: true, get: () => (isServed() ? CLIENT_PATIENCE : PATIENCE) };
  return Object.defineProperty({ ...options }, 'patience', patience);
}

/**
 * For what asks Temporal without a conversation client: the same client with longer deadlines while `isServed`: a message or an answer that a worker is there to take is then not left
 * as a signal, because the machine is slow. Without a worker the deadline is what a test waits for, and stays.
 */
export function patientClient(client: Client, isServed: () => boolean): Client {
  const withDeadline: Client['withDeadline'] = async (deadline, call) => {
    const now = Date.now();
    const left = Number(deadline) - now;
    return await client.withDeadline(now + (isServed() ? left * CLIENT_PATIENCE : left), call);
  };
  return Object.create(client, { withDeadline: { value: withDeadline } }) as Client;
}

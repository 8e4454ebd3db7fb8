/**
 * Notes the operations that the main thread has under way: an activity with its conversation and tool, a request with
 * its route.
 */
import { Register } from './register.js';

/** The register of this process. Operations are noted with or without a watchdog, since a note costs 1 to 3 µs. */
export const register = new Register();

/** Runs a function and notes it as under way until it has settled. Throws and rejects as the function does. */
export async function underWay<Result>(text: string, run: () => Promise<Result>): Promise<Result> {
  const leave = register.enter(text);
  try {
    return await run();
  } finally {
    leave();
  }
}

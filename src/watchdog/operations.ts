/** Notes of what the main thread has under way: an activity with its conversation and tool, a request with its route. */
import { Register } from './register.js';

/** Of this process, whether or not anybody watches it: noting costs 1 to 3 µs. */
export const register = new Register();

/** Runs it, noted as under way until it has settled. Throws and rejects as it does. */
export async function underWay<Result>(text: string, run: () => Promise<Result>): Promise<Result> {
  const leave = register.enter(text);
  try {
    return await run();
  } finally {
    leave();
  }
}

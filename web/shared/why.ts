/** Failures in words. */
import { ApiError } from 'colloquy/browser';

/** The reason in words why the API did not do it, or why anything else failed. */
export function whyOf(error: unknown): string {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error);
  const { status, detail } = error.problem;
  return status === 0 ? 'The API does not answer. Try again.' : detail;
}

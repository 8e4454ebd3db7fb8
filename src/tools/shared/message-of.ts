/** The message of an error that code of tools has thrown. Runs in the worker. */
import { toJson } from './normalise.js';

/**
 * The message of an error. Never a stack: it names files and sometimes arguments, and the model has no use for them.
 */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message === '' ? error.name : error.message;
  if (typeof error === 'string') return error;
  try {
    return JSON.stringify(toJson(error));
  } catch {
    return 'an unknown error';
  }
}

/** What the SDK activates a workflow with, as far as the worker and the sandbox have to understand it alike. */

interface Job {
  readonly resolveActivity?: { readonly isLocal?: boolean | null | undefined } | null | undefined;
}

/** Ends of inline tools alone: they come within the task that asked for them, and the clock of the workflow has moved on. */
export function isWithinTask(jobs: readonly Job[] | null | undefined): boolean {
  return jobs?.every(({ resolveActivity }) => resolveActivity?.isLocal === true) === true;
}

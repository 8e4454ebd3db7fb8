/** Which runs still go on: also one that an operator has paused takes messages, and nothing may start over it. */

/** Names of `WorkflowExecutionStatus` as Temporal's client gives them. */
const OPEN: readonly string[] = ['RUNNING', 'PAUSED'];

/** Of a description, or of a row of a list; false for none. */
export function isOpenRun(
  run: { readonly status: { readonly name: string } } | undefined,
): boolean {
  return run !== undefined && OPEN.includes(run.status.name);
}

/** The end of a tool run that neither asks nor refuses. */
import type { RunToolResult, ToolEnded } from '../../../src/protocol/workflow/activities.js';

/** @throws when the tool asked a question, or refused an answer. */
export function ended<End extends RunToolResult>(end: End): Extract<End, ToolEnded> {
  if ('envelope' in end) return end as Extract<End, ToolEnded>;
  throw new Error(`the run has no result: ${JSON.stringify(end)}`);
}

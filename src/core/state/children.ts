/** The conversations of sub-agents as part of the state. */
import type { ChildBudgets } from '../../protocol/calls/plan.js';
import type { ChildEnd } from '../../protocol/conversation/children.js';
import type { ToolCallId, TurnId } from '../../protocol/values/ids.js';

/** The conversation of a sub-agent that has not ended yet. */
export interface ChildRecord {
  readonly childId: string;
  readonly toolCallId: ToolCallId;
  /** Name of the tool. */
  readonly name: string;
  /** The sub-agent. */
  readonly agent: string;
  readonly turnId: TurnId;
  readonly status: 'starting' | 'started' | 'stopping';
  /** Reserved in the turn until the conversation has ended. */
  readonly granted: ChildBudgets;
  readonly outlives?: true;
}

/** The last turn of the conversation of a sub-agent that has ended, for the report to its parent. */
export type LastTurn = Pick<ChildEnd, 'status' | 'text' | 'output' | 'error'>;

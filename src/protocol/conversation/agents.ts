/** Agents as data: the settings pinned in a conversation, and the manifest that workers publish. Runs anywhere. */
import type { Json, JsonSchema } from '../values/json.js';
import type { TurnBudgets } from './turns.js';

/**
 * Action on a message that comes while a turn runs: refuse it, queue it for a turn of its own, stop the running turn in
 * its favour, or let the running turn's next model call read it.
 */
export type OnBusy = 'reject' | 'queue' | 'interrupt' | 'steer';

export const ON_BUSY: readonly OnBusy[] = ['reject', 'queue', 'interrupt', 'steer'];

/** An agent's settings as the workflow needs them: data, taken from the definition when the conversation starts. */
export interface AgentSettings {
  readonly maxSteps: number;
  readonly onBusy: OnBusy;
  readonly idleCloseMs: number;
  readonly budgets?: TurnBudgets;
  /** A message detaches the calls that wait for people. Absent: the message waits, or does what `onBusy` says. */
  readonly whileWaiting?: 'detach';
  /** Calls of a step run one after the other. Absent: all at once. */
  readonly toolExecution?: 'sequential';
  /** Every model call is sent the whole transcript. Absent: only the new messages. */
  readonly transcripts?: 'full';
  /** Old turns are summarised in the background. Absent: never. */
  readonly summaries?: true;
  /**
   * The same call (tool and arguments) runs fewer times than this in one turn; the result of the last one that runs
   * warns the model.
   */
  readonly repeatLimit?: number;
  /** Bounds of sub-agents; absent: `MAX_CHILD_DEPTH` and `MAX_OPEN_CHILDREN`. */
  readonly subAgents?: SubAgentBounds;
  /** A tool that fails ends the turn. Absent: the model gets the error. */
  readonly onToolError?: 'abort_turn';
  /** A call of a tool that the agent does not have ends the turn. Absent: the model gets the error. */
  readonly onUnknownTool?: 'abort_turn';
  /** Treatment of inbox events. Absent: the running turn reads them, and any number of turns is started for them. */
  readonly inbox?: InboxSettings;
  /** Revision of the core's rules in this conversation; see `revisions.ts`. */
  readonly coreRevision: number;
}

export interface InboxSettings {
  /** Events that come while a turn runs wait for the next one; its model calls read a preview. Absent: they read all. */
  readonly whileBusy?: 'next_turn';
  /** The most turns that events may start within a time; then they wait. Absent: not bounded. */
  readonly rate?: InboxRate;
}

export interface InboxRate {
  readonly turns: number;
  readonly perMs: number;
}

export interface SubAgentBounds {
  /** Levels of conversations below the one that no other has started. */
  readonly maxDepth?: number;
  /** Conversations of sub-agents that one conversation may have open at once. */
  readonly maxOpen?: number;
}

/** Public description of an agent. Published by workers, checked by clients before anything starts. */
export interface AgentManifest {
  readonly name: string;
  readonly description?: string;
  readonly model: string;
  /** Currency of the costs in `usage`; absent where the model has no prices. */
  readonly currency?: string;
  readonly settings: AgentSettings;
  /** JSON Schema of the final answers; absent where they are texts. */
  readonly output?: JsonSchema;
  readonly tools: readonly ToolManifest[];
  /** MCP servers that list further tools, for each worker separately. Absent: none. */
  readonly mcpServers?: readonly { readonly name: string }[];
  /** ISO 8601. Since when no live worker has served the agent. Absent: one does, or there is no live worker at all. */
  readonly notServedSince?: string;
  /** The entry stands for a catalog: agents that are documents. No conversation has it. Absent: an agent. */
  readonly isCatalog?: true;
}

/** An agent among the documents of its tenant. */
export interface StoredAgent {
  /** The catalog whose workers serve it. */
  readonly catalog: string;
  readonly manifest: AgentManifest;
  /** In the form of the catalog. */
  readonly source: Json;
}

/** Kind and owner of these documents. Names in stores are for ever. */
export const STORED_AGENTS = { kind: 'agents', owner: 'agents' };

export interface ToolManifest {
  readonly name: string;
  readonly description: string;
  readonly executor: string;
  /** `policy`: decided for each call. */
  readonly approval: 'auto' | 'required' | 'policy';
  readonly streaming: boolean;
  readonly executesFully: boolean;
  /** JSON Schema of the input, as the model gets it. */
  readonly inputSchema: unknown;
  /** Data of the definition that the engine does not interpret. Absent: it has none. */
  readonly metadata?: Readonly<Record<string, Json>>;
}

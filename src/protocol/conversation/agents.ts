/** Agents as data: the settings pinned in a conversation, and the manifest that workers publish. Runs anywhere. */
import type { JsonSchema } from '../values/json.js';
import type { TurnBudgets } from './turns.js';

/**
 * What a conversation does with a message that comes while a turn runs: refuse it, let it wait for a turn of its own, stop the
 * running turn in its favour, or let the running turn's next model call read it.
 */
export type OnBusy = 'reject' | 'queue' | 'interrupt' | 'steer';

export const ON_BUSY: readonly OnBusy[] = ['reject', 'queue', 'interrupt', 'steer'];

/** An agent's settings as the workflow needs them: data, taken from the definition when the conversation starts. */
export interface AgentSettings {
  readonly maxSteps: number;
  readonly onBusy: OnBusy;
  readonly idleCloseMs: number;
  readonly budgets?: TurnBudgets;
  /** A message sets aside the calls that wait for people. Absent: it waits, or does what `onBusy` says. */
  readonly whileWaiting?: 'detach';
  /** Calls of a step run one after the other. Absent: all at once. */
  readonly toolExecution?: 'sequential';
  /** Every model call is sent the whole transcript. Absent: what is new. */
  readonly transcripts?: 'full';
  /** Old turns are summarised in the background. Absent: never. */
  readonly summaries?: true;
  /** The same call (tool and arguments) runs fewer times than this in one turn; the result of the last one that runs warns the model. */
  readonly repeatLimit?: number;
  /** A tool that fails ends the turn. Absent: the model is told. */
  readonly onToolError?: 'abort_turn';
  /** So does a call of a tool that the agent does not have. */
  readonly onUnknownTool?: 'abort_turn';
  /** The rules that the core decides by in this conversation; see `revisions.ts`. */
  readonly coreRevision: number;
}

/** What the rest of the world knows of an agent. Published by workers, checked by clients before anything starts. */
export interface AgentManifest {
  readonly name: string;
  readonly description?: string;
  readonly model: string;
  /** Of the costs that `usage` names; absent where the model has no prices. */
  readonly currency?: string;
  readonly settings: AgentSettings;
  /** JSON Schema of its final answers; absent where they are texts. */
  readonly output?: JsonSchema;
  readonly tools: readonly ToolManifest[];
  /** Servers that list more of them, each worker for itself. Absent: none. */
  readonly mcpServers?: readonly { readonly name: string }[];
  /** ISO 8601. Workers are there, and none of them has served the agent since. Absent: one does, or there is none at all. */
  readonly notServedSince?: string;
}

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
}

/**
 * A what-if plays a recorded turn again with another prompt or model. No tool runs; calls get the recorded results.
 * Inputs and results of the workflow and of its activity, which are in history for ever. Runs anywhere.
 */
import type { AssistantPart } from '../conversation/messages.js';
import type { Usage } from '../conversation/turns.js';
import type { StampedActor } from '../values/actors.js';
import type { ConversationId, ConversationKey, TurnId } from '../values/ids.js';

/** Model calls of one what-if; the most are `MAX_WHAT_IF_STEPS`. */
export const DEFAULT_WHAT_IF_STEPS = 10;
/** Another system prompt; it is part of the input of each model call. */
export const MAX_WHAT_IF_INSTRUCTIONS = 50_000;
/** Answers that later model calls read, as JSON: with a recorded turn they are the input of one activity. */
export const MAX_WHAT_IF_ANSWER_BYTES = 1_000 * 1024;

/** The recorded turn, and the definition with which it is played again. A new field must be optional. */
export interface WhatIfInput extends ConversationKey {
  readonly whatIfId: string;
  /** Start of the conversation: another one that begins under the same id later is not meant. ISO 8601 */
  readonly startedAt: string;
  /** Generation of the log, from 1. */
  readonly generation: number;
  readonly turnId: TurnId;
  /** The last event that is read: the same log is read at each step. */
  readonly throughSeq: number;
  /** The agent whose instructions, tools and model are used. */
  readonly agent: string;
  /** Name of a model of any agent of the worker. Absent: that of the agent. */
  readonly model?: string;
  /** Replaces the instructions of the agent. */
  readonly instructions?: string;
  readonly maxSteps: number;
  /** Model calls are made in the name of this person, who need not be the requester of the turn. */
  readonly actor: StampedActor;
}

/** An answer of the model, as the model calls after it read it; calls have ids of the what-if. */
export interface WhatIfAnswer {
  readonly parts: readonly AssistantPart[];
}

/** Input of the activity `whatIf`: one model call. */
export interface WhatIfStepInput extends WhatIfInput {
  /** Counts from 1. */
  readonly step: number;
  /** The answers of the steps before it. */
  readonly earlier: readonly WhatIfAnswer[];
}

/** A call as a reader sees it. */
export interface WhatIfCall {
  readonly name: string;
  /** JSON as the model wrote it; long ones are cut. */
  readonly arguments: string;
}

/** One side of a step, recorded or new. */
export interface WhatIfSide {
  /** Long texts are cut. */
  readonly text: string;
  readonly calls: readonly WhatIfCall[];
  /** Absent where it was not recorded. */
  readonly model?: string;
  /** All attempts of the model call. Absent where it was not recorded. */
  readonly usage?: Usage;
}

/** A step of the recorded turn beside that of the what-if. */
export interface WhatIfStep {
  readonly step: number;
  /**
   * `same`: the same calls with the same arguments; without calls, the same text. `differs`: other ones. `added`: the
   * recorded turn had no such step.
   */
  readonly compared: 'same' | 'differs' | 'added';
  readonly recorded?: WhatIfSide;
  readonly answer: WhatIfSide;
}

/** The call that no recorded result answers. */
export interface WhatIfDivergence extends WhatIfCall {
  readonly step: number;
  /**
   * `not_recorded`: the turn has no (further) call of the tool with these arguments. `no_result`: the recorded call has
   * no result.
   */
  readonly reason: 'not_recorded' | 'no_result';
}

/** The end of a what-if, unless it failed. */
export type WhatIfEnd =
  | { readonly state: 'diverged'; readonly diverged: WhatIfDivergence }
  /** `answered`: the model has answered without calls, or a call has ended the turn. */
  | { readonly state: 'ended'; readonly reason: 'answered' | 'max_steps' };

/** Result of the activity `whatIf`. */
export interface WhatIfStepResult {
  readonly answer: WhatIfAnswer;
  readonly step: WhatIfStep;
  /** Absent: another model call follows. */
  readonly end?: WhatIfEnd;
}

export type WhatIfOutcome =
  | WhatIfEnd
  /** By `cancelWhatIf`: the steps before it stay readable. */
  | { readonly state: 'cancelled' }
  | {
      readonly state: 'failed';
      readonly error: { readonly code: string; readonly message: string };
    };

/** Result of the workflow: the steps side by side, and all that the model calls used. */
export type WhatIfResult = WhatIfOutcome & {
  readonly steps: readonly WhatIfStep[];
  readonly usage: Usage;
};

/** State of a what-if: `running`, or its end with the steps side by side. */
export type WhatIfReport = {
  readonly whatIfId: string;
  readonly conversationId: ConversationId;
  readonly turnId: TurnId;
  readonly generation: number;
  readonly agent: string;
  readonly model?: string;
} & (
  | {
      readonly state: 'running';
      /** Present while no worker has taken its next task, with the next command. */
      readonly warning?: string;
    }
  | WhatIfResult
);

/** A what-if in a list. `warning` and the steps are in its report. */
export type ListedWhatIf = {
  readonly whatIfId: string;
  readonly turnId: TurnId;
  readonly generation: number;
  readonly agent: string;
  readonly model?: string;
  /** ISO 8601 */
  readonly begunAt: string;
} & (
  | { readonly state: 'running' }
  | (WhatIfOutcome & {
      /** ISO 8601 */
      readonly endedAt: string;
      /** Number of finished steps. */
      readonly stepCount: number;
      readonly usage: Usage;
    })
);

export interface WhatIfPage {
  readonly whatIfs: readonly ListedWhatIf[];
  /** Absent on the last page. */
  readonly nextCursor?: string;
}

/**
 * `stopping`: it is durable, and ends once its model call has stopped; with a `warning` while no worker has taken its
 * next task. `over`: it had ended before, with `state`.
 */
export type WhatIfCancelled = { readonly whatIfId: string } & (
  | { readonly status: 'stopping'; readonly warning?: string }
  | { readonly status: 'over'; readonly state: WhatIfOutcome['state'] }
);

/** The workflow id `what-if:<tenant>:<conversationId>:<whatIfId>`. */
export function whatIfWorkflowId(key: ConversationKey, whatIfId: string): string {
  return `${whatIfPrefixOf(key)}${whatIfId}`;
}

/** The prefix of the ids of a tenant's what-ifs, or of one conversation's. */
export function whatIfPrefixOf({
  tenant,
  conversationId,
}: Pick<ConversationKey, 'tenant'> & Partial<ConversationKey>): string {
  return `what-if:${tenant}:${conversationId === undefined ? '' : `${conversationId}:`}`;
}

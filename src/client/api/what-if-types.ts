/** Recorded turns that are played again, as applications begin and read them. */
import type { Actor, StampedActor } from '../../protocol/values/actors.js';
import type { ConversationId, TurnId } from '../../protocol/values/ids.js';
import type { WhatIfReport } from '../../protocol/workflow/what-if.js';
import type { ResultOptions } from './types.js';

/** A turn, and the definition with which it is played again: at least an agent, a model, or instructions. */
export interface WhatIfOptions {
  /** @defaultValue the newest turn in which a model has answered */
  readonly turnId?: TurnId | undefined;
  /** Generation of the log. @defaultValue the newest */
  readonly generation?: number | undefined;
  /** The agent whose instructions, tools and model are used. @defaultValue the agent of the turn */
  readonly agent?: string | undefined;
  /** Name of the model of any agent that workers serve. @defaultValue the model of the agent */
  readonly model?: string | undefined;
  /** Replaces the instructions of the agent; at most 50,000 characters. */
  readonly instructions?: string | undefined;
  /** Model calls, from 1 to 20. @defaultValue 10 */
  readonly maxSteps?: number | undefined;
  /** Names the request: repeats with the same id are one what-if. @defaultValue a new one */
  readonly requestId?: string | undefined;
  /** In whose name models are called. @defaultValue the client's */
  readonly actor?: Actor | StampedActor | undefined;
}

/** A page of the what-ifs of a conversation. */
export interface WhatIfListOptions {
  /** From 1 to 100. @defaultValue 50 */
  readonly limit?: number | undefined;
  /** `nextCursor` of an earlier page. */
  readonly cursor?: string | undefined;
}

/** A what-if that was begun. It is durable, and runs once a worker takes it. */
export interface WhatIf {
  readonly whatIfId: string;
  readonly conversationId: ConversationId;
  readonly turnId: TurnId;
  readonly agent: string;
  /** The same request has begun it before. */
  readonly duplicate: boolean;
  /**
   * Waits for its end; when the time is up, the state is `running`.
   * @throws {ConversationError} unknown_what_if once the conversation is deleted, temporal_unreachable
   */
  readonly result: (options?: Pick<ResultOptions, 'timeout' | 'signal'>) => Promise<WhatIfReport>;
}

/** How a plugin takes part in the calls of an agent's tools, whichever of its plugins have them. Types only. */
import type { ToolResultEnvelope } from '../../protocol/calls/results.js';
import type { Json } from '../../protocol/values/json.js';
import type { UntypedServices } from '../tool/context.js';
import type { StateAccess } from '../tool/state-access.js';
import type { AnyTool } from '../tool/types.js';
import type { PluginContext } from './context.js';

export type CalledTool = Pick<AnyTool, 'name' | 'executor' | 'metadata'>;

/** A call that a worker runs. */
export interface SeenCall {
  readonly tool: CalledTool;
  /** With turn and step, the same in every attempt and run of the call. */
  readonly toolCallId: string;
  readonly turnId: string;
  readonly step: number;
  readonly input: Json;
}

/** `asked`: the call waits for the answer to a question of its code; `begins` comes again with the answer. */
export type SeenEnd = { readonly envelope: ToolResultEnvelope } | { readonly asked: true };

export interface CallHookContext<Services = UntypedServices>
  extends PluginContext<Services>,
    Pick<StateAccess, 'getState'> {
  readonly agent: string;
  readonly tenant: string;
  readonly conversationId: string;
}

/** A piece of the arguments of a call, as the model writes them. */
export interface WrittenPiece {
  readonly tool: CalledTool;
  /** Position of the call in the model's answer. */
  readonly index: number;
  /** The provider's id, in the first piece. The call is recorded under it, unless it is taken. */
  readonly toolCallId?: string;
  /** Characters of the arguments before this piece. */
  readonly offset: number;
  /** A part of the JSON text; it may end anywhere. */
  readonly text: string;
}

/** Sees what a model writes. May be stopped at any time; an error that it throws is logged, and ends it. */
export interface CallWriter {
  readonly piece: (piece: WrittenPiece) => void;
  /** The model call is over, with or without the calls. */
  readonly end?: () => void;
}

/** One attempt of a model call. A higher attempt of the step makes the pieces of lower ones void. */
export interface WrittenStep {
  readonly turnId: string;
  readonly step: number;
  readonly attempt: number;
}

type Refusal = string | undefined;

/**
 * | function | when |
 * |---|---|
 * | `writes` | a model call begins; the function that it returns gets the arguments of its calls as the model writes them |
 * | `refuse` | the call is planned: at its turn where calls run one after the other, else at the begin of the step. Calls of every executor but the provider's |
 * | `begins` | before each attempt of a worker to run the call |
 * | `ends` | after the attempt whose result is the call's, or that asks |
 */
export interface CallHooks<Services = UntypedServices> {
  /**
   * For views that show calls as they are written, as text of the live channel: pieces come some times a second, of all
   * calls of known tools, before anything has judged them, and a call need not follow. The state is that of the step.
   */
  readonly writes?: (step: WrittenStep, ctx: CallHookContext<Services>) => CallWriter | undefined;
  /** A text is the call's result, an error: nothing runs or waits. So is the message of an error that it throws. */
  readonly refuse?: (tool: CalledTool, state: Pick<StateAccess, 'getState'>) => Refusal;
  /**
   * A text is the call's result, as that of `refuse`. After an error that it throws the tool does not run: the call is
   * tried again where its effects allow it, else its result is `not_available`. Has two seconds. Safe to repeat.
   */
  readonly begins?: (call: SeenCall, ctx: CallHookContext<Services>) => Refusal | Promise<Refusal>;
  /**
   * Safe to repeat: three attempts within two seconds, then the error is logged, and the call's result stays. Does not
   * run where the run was cancelled, or its worker was lost.
   */
  readonly ends?: (
    call: SeenCall,
    end: SeenEnd,
    ctx: CallHookContext<Services>,
  ) => void | Promise<void>;
}

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

type Refusal = string | undefined;

/**
 * | function | when |
 * |---|---|
 * | `refuse` | the call is planned: at its turn where calls run one after the other, else at the begin of the step. Calls of every executor but the provider's |
 * | `begins` | before each attempt of a worker to run the call |
 * | `ends` | after the attempt whose result is the call's, or that asks |
 */
export interface CallHooks<Services = UntypedServices> {
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

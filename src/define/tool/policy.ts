/** Policies: code that decides, once per call, whether it runs, waits for an approval, or is denied. Types only. */

import type { Effects, Executor } from '../../protocol/calls/executors.js';
import type { ToolAnnotations } from '../../protocol/calls/plan.js';
import type { EarlierResult } from '../../protocol/calls/results.js';
import type { Json } from '../../protocol/values/json.js';
import type { AudienceSpec } from '../checks/audience.js';
import type { ToolContext, UntypedServices } from './context.js';

/** Asks for an approval, and says why. */
export interface ApprovalRequest {
  readonly ask: {
    /** Shown to the approver. */
    readonly reason?: string;
    /** Who may decide. @defaultValue anybody */
    readonly audience?: AudienceSpec;
  };
}

/** What a policy decides for one call; of several the stricter counts: deny, then ask, then allow. */
export type ApprovalDecision = 'allow' | ApprovalRequest | { readonly deny: string };

/**
 * What a policy may look at. `toolCallId` is the provider's: the conversation replaces ids that are taken. `services` are the
 * worker's own; a policy reads with them and changes nothing, since it is asked again when its worker was lost.
 */
export type PolicyContext<Services = UntypedServices> = Pick<
  ToolContext<Services>,
  | 'agent'
  | 'tenant'
  | 'conversationId'
  | 'turnId'
  | 'step'
  | 'toolCallId'
  | 'requester'
  | 'services'
  | 'logger'
> & {
  /**
   * The calls of this turn that have their result, in the model's order (the newest 100), without what they returned. A policy
   * that guards a privilege may ask for an approval once something `untrusted` is among them.
   */
  readonly results: readonly EarlierResult[];
};

/** A tool's own policy. It gets a copy of the validated input. */
export type ApprovalPolicy<Services, Input> = (
  input: Input,
  ctx: PolicyContext<Services>,
) => ApprovalDecision | Promise<ApprovalDecision>;

/** One call, as a policy over all tools sees it. */
export interface PolicyCall {
  readonly name: string;
  readonly executor: Executor;
  readonly effects: Effects;
  readonly input: Json;
  /** Of a tool of an MCP server: which one. */
  readonly mcpServer?: string;
  /** What that server says of the tool: hints, nothing checks them. Present, perhaps empty, for all of its tools. */
  readonly annotations?: ToolAnnotations;
}

/**
 * A policy over all tools of an agent, beside their own gates; the stricter wins. A tool whose answer is a person's decision
 * already is not asked for twice: there, the audience of an `ask` narrows who may answer.
 */
export type ToolPolicy<Services = UntypedServices> = (
  call: PolicyCall,
  ctx: PolicyContext<Services>,
) => ApprovalDecision | Promise<ApprovalDecision>;

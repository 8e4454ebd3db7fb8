/** Policies: code that decides, once per call, whether it runs, waits for an approval, or is denied. Types only. */

import type { Effects, Executor } from '../../protocol/calls/executors.js';
import type { ToolAnnotations } from '../../protocol/calls/plan.js';
import type { EarlierResult } from '../../protocol/calls/results.js';
import type { Json } from '../../protocol/values/json.js';
import type { AudienceSpec } from '../checks/audience.js';
import type { ToolContext, UntypedServices } from './context.js';
import type { StateAccess } from './state-access.js';

/** A request for an approval, with its reason. */
export interface ApprovalRequest {
  readonly ask: {
    /** Shown to the approver. */
    readonly reason?: string;
    /** Audience of the decision. @defaultValue every actor */
    readonly audience?: AudienceSpec;
  };
}

/** The decision of a policy on one call; the strictest of several counts: deny, then ask, then allow. */
export type ApprovalDecision = 'allow' | ApprovalRequest | { readonly deny: string };

/**
 * The fields that a policy may read. `toolCallId` is the provider's: the conversation replaces ids that are taken.
 * `services` are the worker's own; a policy only reads with them, since it is evaluated again when its worker was lost.
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
   * The calls of this turn that have a result, in the model's order (the newest 100), without the results. A policy
   * that guards a privilege may ask for an approval once something `untrusted` is among them.
   */
  readonly results: readonly EarlierResult[];
  /** The states of plugins, as the tools of the step see them. A policy changes none. */
  readonly getState: StateAccess['getState'];
};

/** A tool's own policy. Gets a copy of the validated input. */
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
  /** Name of the MCP server, for a tool of one. */
  readonly mcpServer?: string;
  /** The server's hints about the tool; nothing checks them. Present, perhaps empty, for all tools of MCP servers. */
  readonly annotations?: ToolAnnotations;
}

/**
 * A policy over all tools of an agent, beside their own gates; the stricter wins. A human tool, whose answer is a
 * decision already, gets no second approval: there the audience of an `ask` narrows the audience of the answer.
 */
export type ToolPolicy<Services = UntypedServices> = (
  call: PolicyCall,
  ctx: PolicyContext<Services>,
) => ApprovalDecision | Promise<ApprovalDecision>;

/** The spaces of the event log, as the tools of an agent use them; `Spaces` of `src/spaces/service.ts` has them. */
import type { Port } from '../../define/tool/ports.js';
import {
  type AgentEntity,
  agentMemberId,
  type MemberRef,
  type Metadata,
  type Space,
  type SpaceMessage,
  type SpaceMessageStatus,
} from '../../protocol/spaces/spaces.js';
import type { SpaceWriting } from '../../store/ports/live.js';

export interface AgentCaller {
  readonly tenant: string;
  readonly member: MemberRef;
}

/** Methods of the service `Spaces`; each judges whether the caller is a member. */
export interface SpacesOfAgents {
  get(caller: AgentCaller, spaceId: string): Promise<Space>;
  messages(
    caller: AgentCaller,
    spaceId: string,
    options: { readonly limit: number; readonly offset?: number | undefined },
  ): Promise<{ readonly messages: readonly SpaceMessage[]; readonly lastPosition: number }>;
  send(
    caller: AgentCaller,
    spaceId: string,
    message: { readonly text: string; readonly requestId: string },
  ): Promise<SpaceMessage>;
  show(
    caller: AgentCaller,
    spaceId: string,
    call: {
      readonly requestId: string;
      readonly status: SpaceMessageStatus;
      readonly text?: string;
      readonly metadata: Metadata;
    },
  ): Promise<SpaceMessage>;
  /** Shows to present readers what the agent's model writes. Never throws; what it shows may be lost. */
  writes(caller: AgentCaller, spaceId: string, writing: SpaceWriting): void;
}

/** Workers have it where their event log has spaces. */
export const SPACES: Port<SpacesOfAgents> = { id: 'spaces' };

/** The agent that a tool's code runs for, as a member of spaces. */
export function callerOf({
  tenant,
  ...agent
}: AgentEntity & { readonly tenant: string }): AgentCaller {
  return { tenant, member: { kind: 'agent', id: agentMemberId(agent) } };
}

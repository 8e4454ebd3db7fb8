/** Calls that sub-agents run, and conversations of sub-agents, for a conversation machine under test. */
import type { PlannedCall, SubAgentPlan } from '../../../../src/protocol/calls/plan.js';
import type { AgentSettings } from '../../../../src/protocol/conversation/agents.js';
import type { ChildEnd, ParentRef } from '../../../../src/protocol/conversation/children.js';
import {
  conversationStarted,
  plannedCall,
  VirtualClock,
} from '../../../support/builders/core-builders.js';
import { MachineUnderTest } from '../../../support/schedules/core-driver.js';

export const END: ChildEnd = {
  status: 'completed',
  text: 'found',
  usage: { inputTokens: 70, outputTokens: 30, costMicros: 4 },
  calls: 2,
};
export const call = (
  id: string,
  plan: Partial<SubAgentPlan> = {},
  more: Partial<PlannedCall> = {},
) => plannedCall(id, { executor: 'external', subAgent: { agent: 'researcher', ...plan }, ...more });

export const childOf = (m: MachineUnderTest, toolCallId: string) => {
  const child = m.state.children?.find((one) => one.toolCallId === toolCallId);
  if (child === undefined) throw new Error(`no sub-agent of ${toolCallId}`);
  return child;
};

export const started = (m: MachineUnderTest, toolCallId: string): string => {
  const { childId } = childOf(m, toolCallId);
  m.machine.completed({ type: 'start_child', childId }, { started: true });
  return childId;
};

export const report = (m: MachineUnderTest, childId: string, end: unknown = END) =>
  m.machine.take('childEnded', { childId, end });

const STEP = { conversationId: 'order-41', toolCallId: 'r', name: 'research' } as const;

/** A conversation that runs a call of another one. */
export function aChild(
  settings: Partial<AgentSettings> = {},
  parent: ParentRef = { root: 'order-41', path: [STEP] },
): MachineUnderTest {
  const clock = new VirtualClock();
  const event = { ...conversationStarted(settings), parent, seq: 1, at: clock.iso() };
  return new MachineUnderTest([event], clock);
}

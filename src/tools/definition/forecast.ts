/**
 * Predicts what happens to waiting calls when workers get other definitions, before these are deployed. Runs anywhere
 * with Node.
 */
import type { AnyAgent } from '../../define/define-agent.js';
import type { PlannedCall } from '../../protocol/calls/plan.js';
import type { SuspensionKind } from '../../protocol/calls/suspensions.js';
import { parseArguments, validInput } from '../shared/arguments.js';
import { toolByFactory } from '../shared/factories.js';
import { definitionOf } from './digest.js';
import { judgeInput } from './judge.js';
import { carriedOver } from './migrate.js';

/** A waiting call, as the log has it. */
export interface WaitingCall {
  readonly plan: PlannedCall;
  /** `behind`: its turn has not come, and it will be planned by the definition of that time. */
  readonly waits: SuspensionKind | 'behind';
  /** Digest of the definition that judges its answer. */
  readonly definition?: string | undefined;
}

export interface Forecast {
  /**
   * `continues`: nothing changes. `migrates`: it is migrated, and approved anew if it is gated. `offered_again`: it is
   * offered with another form. `breaks`: it ends with an error. `not_checked`: its tool belongs to an MCP server, which
   * would have to be queried.
   */
  readonly outcome: 'continues' | 'migrates' | 'offered_again' | 'breaks' | 'not_checked';
  /** The reason; empty for `continues`. */
  readonly why: string;
}

const GOES_ON: Forecast = { outcome: 'continues', why: '' };

/** Judges by schemas and `migrate` alone: runs no policy and no tool. Never throws. */
export async function forecast(
  agent: AnyAgent | undefined,
  agentName: string,
  call: WaitingCall,
): Promise<Forecast> {
  const { plan, waits } = call;
  if (agent === undefined) return breaks(`agent "${agentName}" is not defined any more`);
  if (plan.mcp !== undefined) return { outcome: 'not_checked', why: 'a tool of an MCP server' };
  const { made } = plan;
  if (made !== undefined && made.factory === undefined)
    return { outcome: 'not_checked', why: `a tool that plugin "${made.plugin}" added` };
  const tool =
    made === undefined
      ? agent.tools.find(({ name }) => name === plan.name)
      : toolByFactory(agent, { name: plan.name, ref: made });
  const isAnswered = waits !== 'approval' && waits !== 'behind' && plan.executor !== 'server';
  // The shown form judges the answer alone.
  const isOpen = isAnswered && plan.recheckAnswer !== true;
  if (tool === undefined && isOpen) return GOES_ON;
  if (tool === undefined) return breaks(`tool "${plan.name}" is not defined any more`);
  if (waits === 'outcome') return GOES_ON;
  if (waits === 'behind') return behind(tool, plan);
  if (isAnswered) {
    const { answerDefinition } = definitionOf(tool);
    if (answerDefinition === undefined)
      return isOpen ? GOES_ON : breaks(`it is a ${tool.executor} tool now`);
    return call.definition === undefined || answerDefinition === call.definition
      ? GOES_ON
      : { outcome: 'offered_again', why: 'its answer has another form' };
  }
  return ofInput(tool, plan, waits);
}

async function behind(
  tool: Parameters<typeof validInput>[0],
  { unplanned }: PlannedCall,
): Promise<Forecast> {
  const parsed = parseArguments(unplanned?.argumentsJson ?? '');
  const input = parsed.ok ? await validInput(tool, parsed.value) : parsed;
  return input.ok ? GOES_ON : breaks(input.problem);
}

async function ofInput(
  tool: Parameters<typeof validInput>[0],
  plan: PlannedCall,
  waits: SuspensionKind,
): Promise<Forecast> {
  const { input = null, raw = input, definition: from = '' } = plan;
  const judged = await judgeInput(tool, { ...plan, input });
  if (judged.runs) return GOES_ON;
  const { problem } = judged;
  // The call waits for a question of its own code, so it has begun to run.
  if (waits !== 'approval')
    return breaks(`${problem}; it has begun to run, so its outcome is unknown`);
  if (tool.executor !== plan.executor) return breaks(problem);
  const signal = new AbortController().signal;
  const carried = await carriedOver({ tool, raw, from, problem, signal });
  return 'problem' in carried ? breaks(carried.problem) : { outcome: 'migrates', why: problem };
}

function breaks(why: string): Forecast {
  return { outcome: 'breaks', why };
}

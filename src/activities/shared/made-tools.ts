/** Tools that plugins make at run time: remembered where they were made, and made again elsewhere. */
import { Context } from '@temporalio/activity';
import { LRUCache } from 'lru-cache';
import type { AnyAgent } from '../../define/define-agent.js';
import type { AnyTool } from '../../define/tool/types.js';
import type { MadeTool, StepOfMade } from '../../protocol/calls/plan.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { prepareAgent } from '../../tools/plugins/prepare.js';
import { addedTool, toolByFactory } from '../../tools/shared/factories.js';
import { withFields } from '../../tools/shared/tool-logger.js';
import type { ActivityTools } from './deps.js';
import { reasonOf, toFailure } from './failure.js';
import { type RunOfConversation, runOf } from './transcripts.js';

const MAX_REMEMBERED = 1_000;

type StepKey = Pick<StepOfMade, 'turnId' | 'step'>;

/** The tools that `prepare` has added in this worker, so that it does not run again for each call. */
export class MadeTools {
  readonly #known = new LRUCache<string, AnyTool>({ max: MAX_REMEMBERED });

  get(run: RunOfConversation, at: StepKey, name: string): AnyTool | undefined {
    return this.#known.get(keyOf(run, at, name));
  }

  /** Remembers those tools of the agent that a factory cannot make. */
  remember(run: RunOfConversation, at: StepKey, { tools }: AnyAgent): void {
    for (const tool of tools)
      if (tool.made !== undefined && tool.made.factory === undefined)
        this.#known.set(keyOf(run, at, tool.name), tool);
  }
}

/** A run that continues the conversation has the same tools. */
function keyOf({ workflowId }: RunOfConversation, { turnId, step }: StepKey, name: string): string {
  return JSON.stringify([workflowId, turnId, step, name]);
}

export interface CallOfMade extends ConversationKey {
  readonly name: string;
  readonly made: MadeTool;
}

/**
 * The tool of a call, or undefined when this worker cannot make it.
 * @throws {ApplicationFailure} `plugin_failed` when `prepare` fails, or the states cannot be had; the reason of a
 * cancellation
 */
export async function madeTool(
  tools: ActivityTools,
  agent: AnyAgent,
  { name, made: { ref, at }, tenant, conversationId }: CallOfMade,
): Promise<AnyTool | undefined> {
  const { logger } = tools;
  const call = { name, ref };
  if (ref.factory !== undefined)
    return toolByFactory(agent, call, (error) => {
      logger.warn('tool not made', { ...ref, tool: name, reason: reasonOf(error) });
    });
  if (at === undefined) return undefined;
  const context = Context.current();
  const signal = context.cancellationSignal;
  const run = runOf(context);
  const known = tools.made.get(run, at, name);
  if (known !== undefined) return known;
  const about = { tenant, conversationId, turnId: at.turnId, step: at.step };
  try {
    const prepared = await prepareAgent({
      ...{ agent, ...about, requester: at.requester, signal },
      states: await tools.states.statesOf(run, at.states),
      services: tools.services,
      logger: withFields(logger, about),
      results: at.results ?? [],
    });
    tools.made.remember(run, at, prepared.agent);
    return addedTool(prepared.agent, call);
  } catch (error) {
    throw signal.aborted ? error : toFailure(error, 'plugin_failed');
  }
}

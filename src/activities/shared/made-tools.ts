/** The tools that `prepare` has added in this worker, so that it does not run again for each call. */
import { LRUCache } from 'lru-cache';
import type { AnyAgent } from '../../define/define-agent.js';
import type { AnyTool } from '../../define/tool/types.js';
import type { StepOfMade } from '../../protocol/calls/plan.js';
import type { RunOfConversation } from './transcripts.js';

const MAX_REMEMBERED = 1_000;

type StepKey = Pick<StepOfMade, 'turnId' | 'step'>;

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

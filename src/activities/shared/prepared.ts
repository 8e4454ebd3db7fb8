/** Runs `prepare` of an agent's plugins for a step, and remembers the tools that it adds. */
import { Context } from '@temporalio/activity';
import type { AnyAgent } from '../../define/define-agent.js';
import type { StepOfMade } from '../../protocol/calls/plan.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { type Preparation, type Prepared, prepareAgent } from '../../tools/plugins/prepare.js';
import { withFields } from '../../tools/shared/tool-logger.js';
import type { ScopedTools } from './deps.js';
import { toFailure } from './failure.js';
import { runOf } from './transcripts.js';

/**
 * @throws {ApplicationFailure} `plugin_failed`, also when the states cannot be had; the reason of a cancellation
 */
export async function preparedStep(
  tools: ScopedTools,
  agent: AnyAgent,
  {
    tenant,
    conversationId,
    turnId,
    step,
    requester,
    results,
    states,
    forCall = false,
  }: ConversationKey & Omit<StepOfMade, 'results'> & Pick<Preparation, 'results' | 'forCall'>,
): Promise<Prepared> {
  const context = Context.current();
  const signal = context.cancellationSignal;
  const run = runOf(context);
  const about = { tenant, conversationId, turnId, step };
  try {
    const prepared = await prepareAgent({
      ...{ agent, ...about, requester, results, signal, forCall },
      states: await tools.states.statesOf(run, states),
      services: tools.services,
      ports: tools.ports,
      logger: withFields(tools.logger, about),
    });
    tools.made.remember(run, { turnId, step }, prepared.agent);
    return prepared;
  } catch (error) {
    // An error of the model's adapter would lose its words.
    throw signal.aborted ? error : toFailure(error, 'plugin_failed');
  }
}

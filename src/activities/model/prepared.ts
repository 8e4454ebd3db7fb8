/** Runs `prepare` of an agent's plugins, as part of the activity of a model call. */
import { Context } from '@temporalio/activity';
import type { AnyAgent } from '../../define/define-agent.js';
import { type Message, resultsOfTurn } from '../../protocol/conversation/messages.js';
import type { CallModelInput } from '../../protocol/workflow/activities.js';
import { type Prepared, prepareAgent } from '../../tools/plugins/prepare.js';
import { withFields } from '../../tools/shared/tool-logger.js';
import type { ActivityTools } from '../shared/deps.js';
import { toFailure } from '../shared/failure.js';
import { runOf } from '../shared/transcripts.js';

/**
 * @throws {ApplicationFailure} `plugin_failed`, also when the states cannot be had; the reason of a cancellation
 */
export async function prepared(
  tools: ActivityTools,
  input: CallModelInput,
  { agent, messages }: { readonly agent: AnyAgent; readonly messages: readonly Message[] },
): Promise<Prepared> {
  const { tenant, conversationId, turnId, step, requester } = input;
  if (agent.plugins === undefined) return { agent, context: [], patches: [], states: {} };
  const context = Context.current();
  const about = { tenant, conversationId, turnId, step };
  const signal = context.cancellationSignal;
  try {
    const run = runOf(context);
    const done = await prepareAgent({
      ...{ agent, ...about, requester, signal },
      states: await tools.states.statesOf(run, input.states),
      services: tools.services,
      logger: withFields(tools.logger, about),
      results: resultsOfTurn(messages, turnId),
    });
    tools.made.remember(run, { turnId, step }, done.agent);
    return done;
  } catch (error) {
    // An error of the model's adapter would lose its words.
    throw signal.aborted ? error : toFailure(error, 'plugin_failed');
  }
}

/**
 * Summarises the oldest turns of a conversation while its turns continue. Has no effects but the model's cost; safe to
 * repeat: the workflow takes one outcome, and starts the activity again when it has none.
 */
import { Context } from '@temporalio/activity';
import { tokenCounting } from '../../model/shared/count-tokens.js';
import { isContextTooLong } from '../../model/shared/failure.js';
import type { Message } from '../../protocol/conversation/messages.js';
import type { ModelRequest } from '../../protocol/model/model.js';
import { type SummarizeInput, type SummarizeResult } from '../../protocol/workflow/activities.js';
import { tokensOf } from '../../tools/model-input/model-context.js';
import { makeSummary, SUMMARY_VERSION, summarizerOf } from '../../tools/model-input/summarize.js';
import { withFields } from '../../tools/shared/tool-logger.js';
import { type ActivityTools } from '../shared/deps.js';
import { agentOf, failureOf } from '../shared/failure.js';
import { withHeartbeat } from '../shared/heartbeat.js';
import { runOf } from '../shared/transcripts.js';
import { audited } from './audit.js';
import type { AskedRequest } from './request-meter.js';
import { failedRequest } from './requests.js';
import { Spending } from './spending.js';

/**
 * | what happens | outcome |
 * |---|---|
 * | the model writes a summary | text, the messages it covers, usage of all attempts, and the failures of earlier ones |
 * | the adapter throws a `ModelFailure` | failure of its code, retried as it says |
 * | the model writes nothing | failure `model_empty_answer`, retried |
 * | the messages are not available | failure `transcript_miss`: the workflow sends them |
 * | the agent no longer wants summaries | failure `invalid_request`: the workflow pauses |
 */
export async function summarize(
  tools: ActivityTools,
  input: SummarizeInput,
): Promise<SummarizeResult> {
  const context = Context.current();
  const { tenant, conversationId, ordinal } = input;
  const logger = withFields(tools.logger, { tenant, conversationId, ordinal });
  const agent = agentOf(tools, input.agent);
  const summarizer = summarizerOf(agent);
  if (summarizer === undefined)
    throw failureOf('invalid_request', `Agent "${agent.name}" wants no summaries`);
  const signal = context.cancellationSignal;
  const caller = { purpose: 'summary' as const, tenant, conversationId, agent: agent.name };
  const spending = new Spending(summarizer.model, { logger, caller });
  const { feature } = agent;
  const about = { ...caller, feature, model: summarizer.model, attempt: spending.attempts.number };
  try {
    const made = await withHeartbeat(
      async () => {
        const messages = await tools.transcripts.read(runOf(context), input.transcript);
        const making = makeSummary({
          ...summarizer,
          messages,
          counting: tokenCounting,
          ask: (request) =>
            spending.request(askedOf(request), (meter) =>
              audited(tools, about, {
                request,
                meter,
                run: () =>
                  summarizer.model.generate(request, {
                    ...{ signal, caller: spending.caller },
                    ...meter.options(),
                  }),
              }),
            ),
          isTooLong: isContextTooLong,
        });
        making.catch(() => undefined);
        return await Promise.race([making, context.cancelled]);
      },
      () => spending.details(),
    );
    if (made === undefined)
      throw failureOf('model_empty_answer', `Model "${summarizer.model.name}" wrote no summary`);
    spending.giveUp();
    const { response, ...summary } = made;
    const { model } = response;
    const { failed } = spending.attempts;
    return {
      ...{ ...summary, version: SUMMARY_VERSION, model, usage: spending.total },
      ...(failed.length === 0 ? {} : { failedAttempts: failed }),
    };
  } catch (error) {
    throw failedRequest({ logger, spending, text: 'summary failed' }, error);
  }
}

function askedOf({ system, messages }: ModelRequest): AskedRequest {
  const { rough } = tokenCounting;
  const add = (sum: number, message: Message): number => sum + tokensOf(message, rough);
  return { promptTokens: messages.reduce(add, rough(system)), messages };
}

/** How much of a conversation the model is given: settings of an agent and of its tools, and their rules. Runs anywhere. */

import type { Retention } from '../../protocol/conversation/context.js';
import {
  CONTEXT_SHARE_OF_MODEL,
  DEFAULT_CONTEXT_TOKENS,
  DEFAULT_RETENTION_TURNS,
} from '../../protocol/limits/service-limits.js';
import type { Model } from '../../protocol/model/model.js';
import { isRecord } from '../../protocol/values/json.js';
import type { ProblemList, Untyped } from '../checks/problems.js';
import { checkKeys, shown } from '../checks/problems.js';
import { isCount, retentionProblem } from '../checks/retention.js';

/** What a model call is given of a long conversation. The log keeps everything. */
export interface ContextSpec {
  /**
   * Input tokens of one model call: system prompt, tools and messages. Near them old tool results become stubs, over them the
   * oldest turns are left out. @defaultValue three quarters of what the model reads (`contextTokens`), or 100,000
   */
  readonly maxTokens?: number;
  /**
   * No more than so many newest turns, the one in progress included. A window slides at every turn, so that no provider's prompt
   * cache ever hits; a budget leaps instead. @defaultValue as many as fit
   */
  readonly window?: number;
  /** For tools that say nothing of their own. @defaultValue {turns: 6} */
  readonly retention?: Retention;
  /**
   * Old turns are summarised in the background when the context comes near its budget: by the agent's model, or another that
   * costs less, as the engine's instructions or your own say. The newest two turns always stay whole. `false`: they are left
   * out without a summary. @defaultValue by the agent's model
   */
  readonly summarize?: SummarizeSpec | false;
}

export interface SummarizeSpec {
  /** Its prices must be in the currency of the agent's model. */
  readonly model?: Model;
  /** Takes the place of the engine's: what to keep, in which form. */
  readonly instructions?: string;
}

/** The same with its defaults. */
export interface AgentContext {
  /** Input tokens of one model call. */
  readonly maxTokens: number;
  /** Nobody knows what the model reads: it is asked even where a turn alone has more. */
  readonly guessed?: true;
  readonly window?: number;
  readonly retention: Retention;
  readonly summarize: SummarizeSpec | false;
}

const FIELDS = ['maxTokens', 'window', 'retention', 'summarize'];

export function contextOf(spec: ContextSpec | undefined, model: Model): AgentContext {
  const { maxTokens, window, retention, summarize } = spec ?? {};
  const { contextTokens } = model;
  const known =
    maxTokens ??
    (contextTokens === undefined ? undefined : Math.floor(contextTokens * CONTEXT_SHARE_OF_MODEL));
  return {
    maxTokens: known ?? DEFAULT_CONTEXT_TOKENS,
    ...(known === undefined ? { guessed: true } : {}),
    ...(window === undefined ? {} : { window }),
    retention: retention ?? { turns: DEFAULT_RETENTION_TURNS },
    summarize: summarize ?? {},
  };
}

/** Adds every fault. */
export function checkContext(spec: Untyped, problems: ProblemList): void {
  const { context, model } = spec;
  if (isRecord(model) && model['contextTokens'] !== undefined && !isCount(model['contextTokens']))
    problems.add('model.contextTokens', 'must be a whole number from 1');
  if (context === undefined) return;
  if (!isRecord(context)) {
    problems.add('context', `must be an object, got ${shown(context)}`);
    return;
  }
  checkKeys(problems, context, { prefix: 'context.', allowed: FIELDS });
  for (const field of ['maxTokens', 'window'])
    if (context[field] !== undefined && !isCount(context[field]))
      problems.add(`context.${field}`, 'must be a whole number from 1');
  problems.addIf('context.retention', retentionProblem(context['retention']));
  checkSummarize(context['summarize'], model, problems);
}

function checkSummarize(summarize: unknown, own: unknown, problems: ProblemList): void {
  if (summarize === undefined || summarize === false) return;
  if (!isRecord(summarize)) {
    problems.add('context.summarize', `must be an object or false, got ${shown(summarize)}`);
    return;
  }
  const allowed = ['model', 'instructions'];
  checkKeys(problems, summarize, { prefix: 'context.summarize.', allowed });
  const { model, instructions } = summarize;
  if (instructions !== undefined && (typeof instructions !== 'string' || !instructions.trim()))
    problems.add('context.summarize.instructions', 'must be a non-empty text');
  if (model === undefined) return;
  if (!isRecord(model) || typeof model['generate'] !== 'function')
    problems.add('context.summarize.model', 'must be a model, such as openaiModel("...")');
  else if (isRecord(own) && currencyOf(model) !== currencyOf(own))
    problems.add(
      'context.summarize.model',
      "must have prices in the currency of the agent's model: costs are added up",
    );
}

/** Of a model without prices, any. */
function currencyOf({ prices }: Untyped): unknown {
  return isRecord(prices) ? (prices['currency'] ?? 'USD') : 'USD';
}

/** The context settings of an agent and of its tools, and their rules. Runs anywhere. */

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

/** Settings for the part of a long conversation that a model call is given. The log keeps everything. */
export interface ContextSpec {
  /**
   * Input tokens of one model call: system prompt, tools and messages. Near this budget old tool results become stubs;
   * over it the oldest turns are left out. @defaultValue three quarters of the model's limit (`contextTokens`), or
   * 100,000
   */
  readonly maxTokens?: number;
  /**
   * The most turns, the newest, with the one in progress included. A window slides at every turn, so that no provider's
   * prompt cache ever hits; a budget leaves out several turns at once. @defaultValue as many as fit
   */
  readonly window?: number;
  /**
   * Retention for tools that set none; their results become stubs near the budget only. `'when_needed'`: so do those of
   * tools that set their own, which keeps more of each request in the prompt caches of providers. @defaultValue
   * {turns: 6}
   */
  readonly retention?: Retention | 'when_needed';
  /**
   * Summarises old turns in the background when the context comes near its budget: by the agent's model, or a cheaper
   * one, with the engine's instructions or your own. The newest two turns always stay whole. `false`: turns are left
   * out without a summary. @defaultValue by the agent's model
   */
  readonly summarize?: SummarizeSpec | false;
}

export interface SummarizeSpec {
  /** Model that writes the summaries. Its prices must be in the currency of the agent's model. */
  readonly model?: Model;
  /** Replaces the engine's instructions: what to keep, in which form. */
  readonly instructions?: string;
}

/** The context settings with their defaults. */
export interface AgentContext {
  /** Input tokens of one model call. */
  readonly maxTokens: number;
  /** Present when the model's limit is not known: the model is called even where a single turn exceeds `maxTokens`. */
  readonly guessed?: true;
  readonly window?: number;
  readonly retention: Retention;
  /** Results of tools that set their own retention become stubs near the budget only, too. */
  readonly retentionWhenNeeded?: true;
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
    retention:
      retention === undefined || retention === 'when_needed'
        ? { turns: DEFAULT_RETENTION_TURNS }
        : retention,
    ...(retention === 'when_needed' ? { retentionWhenNeeded: true } : {}),
    summarize: summarize ?? {},
  };
}

/** Adds every fault of the context settings. */
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
  if (context['retention'] !== 'when_needed')
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

/** The currency of a model's prices; undefined for a model without prices, which fits any. */
function currencyOf({ prices }: Untyped): unknown {
  return isRecord(prices) ? (prices['currency'] ?? 'USD') : 'USD';
}

/** Tools that the model's provider runs: their configuration, validated and copied. Runs anywhere. */

import { MAX_ANSWER_DEPTH } from '../../protocol/limits/limits.js';
import { MAX_PROVIDER_TOOL_BYTES } from '../../protocol/limits/service-limits.js';
import type { Model, ProviderTool } from '../../protocol/model/model.js';
import { isBoundedJson, isRecord, type JsonSchema, utf8Bytes } from '../../protocol/values/json.js';
import { type ProblemList, shown } from '../checks/problems.js';
import { isPlainJson } from './metadata.js';

/** Input schema in manifests; the real one is the provider's own. */
export const PROVIDER_INPUT: JsonSchema = { type: 'object' };

/** Adds every fault of the field `provider`. */
export function checkProviderTool(provider: unknown, problems: ProblemList): void {
  if (!isRecord(provider)) {
    const rule = `must be the tool as the provider takes it, such as {type: "web_search"}, got ${shown(provider)}`;
    problems.add('provider', rule);
    return;
  }
  const { type } = provider;
  if (typeof type !== 'string' || type.trim() === '')
    problems.add('provider.type', `must be the provider's name for the tool, got ${shown(type)}`);
  if (!isBoundedJson(provider, MAX_ANSWER_DEPTH) || !isPlainJson(provider))
    problems.add('provider', `must be JSON, nested at most ${MAX_ANSWER_DEPTH} deep`);
  else if (utf8Bytes(JSON.stringify(provider)) > MAX_PROVIDER_TOOL_BYTES)
    problems.add('provider', `must be at most ${MAX_PROVIDER_TOOL_BYTES} bytes of JSON`);
}

/** A copy of the configuration, so that later changes by the author change no request. */
export function providerToolOf(provider: unknown): ProviderTool {
  return JSON.parse(JSON.stringify(provider)) as ProviderTool;
}

/** Description of a tool whose author gives none; its provider has described it to the model. */
export function providerDescription(provider: unknown): string {
  const type = isRecord(provider) ? provider['type'] : undefined;
  return `Run by the model's provider: ${typeof type === 'string' ? type : 'unknown'}.`;
}

/** The reason why an agent with this model cannot have the tool; undefined when it can. */
export function modelProblem(model: Model, provider: ProviderTool): string | undefined {
  if (model.providerToolProblem !== undefined) return model.providerToolProblem(provider);
  return `model "${model.name}" does not run tools of its provider`;
}

/** Calls that the model's provider has run inside the model call, in the form of the log. Runs in the worker. */

import type { ToolResult } from '../../protocol/calls/results.js';
import { MAX_CALLS_PER_STEP } from '../../protocol/limits/limits.js';
import { MAX_PROVIDER_CALL_BYTES } from '../../protocol/limits/service-limits.js';
import type { ModelResponse, ProviderCall } from '../../protocol/model/model.js';
import type { Json } from '../../protocol/values/json.js';
import type { ProviderCallRecord } from '../../protocol/workflow/activities.js';
import { boundedJson, toJson } from '../shared/normalise.js';
import { MAX_UNKNOWN_NAME_CHARS, unknownCall } from './plan.js';

/**
 * Plan and result of each call, in the provider's order. Calls past `MAX_CALLS_PER_STEP` are left out; they are still
 * kept as `provider_item`s. Content that a provider brings in from outside (pages, files, programs that ran) is
 * `untrusted`. Never throws.
 */
export function providerCallsOf(response: ModelResponse): {
  readonly providerCalls?: readonly ProviderCallRecord[];
} {
  const { providerCalls = [] } = response;
  if (providerCalls.length === 0) return {};
  return { providerCalls: providerCalls.slice(0, MAX_CALLS_PER_STEP).map(recordOf) };
}

function recordOf({ id, name, input, outcome }: ProviderCall): ProviderCallRecord {
  const plan = {
    ...unknownCall(id, name.slice(0, MAX_UNKNOWN_NAME_CHARS)),
    executor: 'provider' as const,
    input: shownJson(input),
  };
  return { plan, result: resultOf(outcome) };
}

function resultOf(outcome: ProviderCall['outcome']): ToolResult {
  if ('output' in outcome)
    return {
      status: 'resolved',
      envelope: { ok: true, result: shownJson(outcome.output) },
      provenance: 'untrusted',
    };
  const message = outcome.error.slice(0, MAX_PROVIDER_CALL_BYTES / 4);
  return {
    status: 'errored',
    envelope: { ok: false, error: { code: 'provider_error', message } },
    provenance: 'untrusted',
  };
}

function shownJson(value: unknown): Json {
  return boundedJson(toJson(value), MAX_PROVIDER_CALL_BYTES);
}

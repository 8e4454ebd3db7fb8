/** The forms in which models read results of tools. Pure. */
import type { ToolResultEnvelope } from '../../protocol/calls/results.js';
import type { ModelRequest } from '../../protocol/model/model.js';
import type { Json } from '../../protocol/values/json.js';

/** A result as the request has it: its envelope, or the bare form. */
export function shownResult(
  envelope: ToolResultEnvelope,
  { bareResults }: Pick<ModelRequest, 'bareResults'>,
): Json {
  return bareResults === true ? bareResult(envelope) : (envelope as unknown as Json);
}

/**
 * The result alone, or `{error: message}`. Files and a `notice` of the engine have no place in a result of any form, so
 * with one of them a result is `{result, files, notice}`.
 */
function bareResult(envelope: ToolResultEnvelope): Json {
  const notice = envelope.notice === undefined ? {} : { notice: envelope.notice };
  if (!envelope.ok) return { error: envelope.error.message, ...notice };
  const { result, files } = envelope;
  const shown = files === undefined ? {} : { files: files as unknown as Json };
  const beside = { ...shown, ...notice };
  return Object.keys(beside).length === 0 ? result : { result, ...beside };
}

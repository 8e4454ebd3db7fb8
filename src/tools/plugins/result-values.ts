/** The results of a turn with their values, for `prepare` of plugins. */
import type { ResultOfTurn } from '../../define/plugin/types.js';
import type { ToolResultEnvelope } from '../../protocol/calls/results.js';
import { type Message, resultsOfTurn } from '../../protocol/conversation/messages.js';
import { MAX_RESULT_VALUES_BYTES } from '../../protocol/limits/service-limits.js';
import type { TurnId } from '../../protocol/values/ids.js';
import { utf8Bytes } from '../../protocol/values/json.js';

/** In the model's order. The newest have their values, together `MAX_RESULT_VALUES_BYTES` at most. */
export function resultsWithValues(
  messages: readonly Message[],
  turnId: TurnId,
): readonly ResultOfTurn[] {
  const envelopes = envelopesOf(messages, turnId);
  let roomBytes = MAX_RESULT_VALUES_BYTES;
  const newestFirst = resultsOfTurn(messages, turnId)
    .toReversed()
    .map((result): ResultOfTurn => {
      const envelope = envelopes.get(result.toolCallId);
      // A value without room is the last that is looked at: a result has none where a newer one has none.
      if (envelope === undefined || roomBytes < 0) return result;
      const json = JSON.stringify(envelope.ok ? envelope.result : envelope.error);
      roomBytes -= utf8Bytes(json);
      if (roomBytes < 0) return result;
      // A copy: the messages are the worker's own.
      const value: unknown = JSON.parse(json);
      return { ...result, [envelope.ok ? 'result' : 'error']: value };
    });
  return newestFirst.toReversed();
}

function envelopesOf(
  messages: readonly Message[],
  turnId: TurnId,
): ReadonlyMap<string, ToolResultEnvelope> {
  const parts = messages.flatMap((message) =>
    message.role === 'tool' && message.turnId === turnId ? message.parts : [],
  );
  return new Map(parts.map(({ toolCallId, envelope }) => [toolCallId, envelope]));
}

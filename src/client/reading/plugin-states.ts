/** Reads the states of plugins: from the workflow, or, when no worker answers in time, by the reader. */
import type { PluginStatesRead } from '../../protocol/calls/plugin-state.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import type { ConversationReader } from '../ports/reader.js';
import { isUnanswered } from '../temporal/errors.js';
import type { TemporalGateway } from '../temporal/temporal-gateway.js';

/** Undefined when neither has the conversation. @throws {ConversationError} */
export async function readPluginStates({
  gateway,
  reader,
  key,
}: {
  readonly gateway: TemporalGateway;
  readonly reader: ConversationReader;
  readonly key: ConversationKey;
}): Promise<PluginStatesRead | undefined> {
  // The server may still have the run of a deleted conversation, which would answer.
  if ((await gateway.describe(key)) !== undefined)
    try {
      const now = await gateway.query(key, 'pluginStates');
      if (now !== undefined) return { seq: now.seq, states: now.states };
    } catch (error) {
      if (!isUnanswered(error) || reader.pluginStates === undefined) throw error;
    }
  return await reader.pluginStates?.(key);
}

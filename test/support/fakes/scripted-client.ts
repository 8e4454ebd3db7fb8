/** A conversation client over a scripted Temporal client. */

import { ConversationError } from '../../../src/client/api/errors.js';
import type { ConversationClientOptions } from '../../../src/client/api/types.js';
import { ConversationClient } from '../../../src/client/conversation-client.js';
import { SUPPORT } from '../samples/sample-log.js';
import { fakeTemporal, type Script } from './fake-temporal.js';

export function setUp(script: Script, options: Partial<ConversationClientOptions> = {}) {
  const temporal = fakeTemporal(script);
  const client = new ConversationClient({
    temporal: temporal.client,
    agents: [SUPPORT],
    ...options,
  });
  return {
    client,
    calls: temporal.calls,
    conversation: client.conversation('c-1', { agent: 'support' }),
  };
}

/** The ConversationError that a call is refused with. */
export async function failureOf(promise: Promise<unknown>): Promise<ConversationError> {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!ConversationError.isInstance(error))
    throw new Error(`no ConversationError: ${String(error)}`);
  return error;
}

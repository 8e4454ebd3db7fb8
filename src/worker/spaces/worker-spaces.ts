/** The agents of spaces in a worker: woken by events of their inbox. */
import type { Client } from '@temporalio/client';
import { ConversationClient } from '../../client/conversation-client.js';
import type { Logger } from '../../define/tool/context.js';
import { clientOptionsFrom } from '../../projection/client-options.js';
import type { OpenLog } from '../../projection/source/open-log.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import { type DeliverText, SpaceWaker, spaceEventOf } from '../../spaces/wakes.js';

/** Returns none where the store has no spaces. */
export function workerSpaces({
  opened,
  client: temporal,
  logger,
  ...options
}: {
  readonly opened: OpenLog;
  readonly client: Client;
  readonly logger: Logger;
  readonly taskQueue: string;
  readonly searchAttributes: boolean;
}): readonly SpaceWaker[] {
  const { spaces: store } = opened;
  if (store === undefined) return [];
  const fromLog = clientOptionsFrom(opened, temporal, logger);
  const client = new ConversationClient({ ...fromLog, ...options });
  const deliver: DeliverText = async (wake, text) => {
    const { tenant, conversationId, agent } = wake;
    const { id, name } = text.author;
    // The space has checked that the author is a member, and nothing about the proof of its id.
    const actor: StampedActor = {
      ...{ id, verified: false, channel: 'client' },
      ...(name === undefined ? {} : { name }),
    };
    const conversation = client.conversation(conversationId, { tenant, agent });
    await conversation.sendEvent(spaceEventOf(wake, text), { actor });
  };
  return [new SpaceWaker({ store, deliver, logger })];
}

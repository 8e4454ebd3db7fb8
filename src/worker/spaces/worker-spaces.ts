/** The agents of spaces in a worker: woken by events of their inbox. */
import type { Client } from '@temporalio/client';
import { ConversationClient } from '../../client/conversation-client.js';
import type { Logger } from '../../define/tool/context.js';
import { clientOptionsFrom } from '../../projection/client-options.js';
import type { OpenLog } from '../../projection/source/open-log.js';
import type { AgentManifest } from '../../protocol/conversation/agents.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import { showingLog } from '../../spaces/calls/showing-log.js';
import { withoutLoops } from '../../spaces/loops.js';
import { spacesFrom } from '../../spaces/service.js';
import { type DeliverText, SpaceWaker, spaceEventOf } from '../../spaces/wakes.js';

/** The opened log, which shows visible calls in their spaces as it stores the events of these. */
export function withShownCalls(
  opened: OpenLog,
  agents: readonly AgentManifest[],
  logger: Logger,
): OpenLog {
  const { log } = opened;
  const spaces = spacesFrom(opened);
  return spaces === undefined
    ? opened
    : { ...opened, log: showingLog({ log, spaces, agents, logger }) };
}

/** Returns none where the store has no spaces. */
export function workerSpaces({
  opened,
  client: temporal,
  logger,
  taskQueue,
  searchAttributes,
  pageUrl,
}: {
  readonly opened: OpenLog;
  readonly client: Client;
  readonly logger: Logger;
  readonly taskQueue: string;
  readonly searchAttributes: boolean;
  readonly pageUrl: string | undefined;
}): readonly SpaceWaker[] {
  const { spaces: store } = opened;
  const spaces = spacesFrom(opened);
  if (store === undefined || spaces === undefined) return [];
  const fromLog = clientOptionsFrom(opened, temporal, logger);
  const client = new ConversationClient({ ...fromLog, taskQueue, searchAttributes, pageUrl });
  const deliver: DeliverText = async (wake, text, hops) => {
    const { tenant, conversationId, agent } = wake;
    const { id, name } = text.author;
    // The space has checked that the author is a member, and nothing about the proof of its id.
    const actor: StampedActor = {
      ...{ id, verified: false, channel: 'client' },
      ...(name === undefined ? {} : { name }),
    };
    const conversation = client.conversation(conversationId, { tenant, agent });
    await conversation.sendEvent(spaceEventOf(wake, text, hops), { actor });
  };
  const guarded = withoutLoops(deliver, { store, spaces, logger });
  return [new SpaceWaker({ store, deliver: guarded, logger })];
}

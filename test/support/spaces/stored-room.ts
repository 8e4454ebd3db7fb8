/** An agent of the test kit in a space that shows its calls as its log is stored. */
import { manifestOf, type Tool } from '../../../src/index.js';
import type { ScriptedAnswer } from '../../../src/model/scripted/types.js';
import type { CanonicalEvent } from '../../../src/protocol/log/events.js';
import { type ShowingDeps, showingLog } from '../../../src/spaces/calls/showing-log.js';
import { script } from '../../../src/testing/index.js';
import { openSqliteEventLog } from '../event-logs.js';
import { botWith, roomOf } from './room-of-agent.js';

/** A room whose log is stored in batches, as a worker stores it. */
export async function storedRoom(tools: readonly Tool[], ...answers: readonly ScriptedAnswer[]) {
  const room = await roomOf(script(...answers), tools);
  const log = await openSqliteEventLog({ file: ':memory:' });
  const deps: ShowingDeps = {
    log,
    spaces: room.port,
    agents: [manifestOf(botWith(script(), tools))],
    logger: { info: () => undefined, warn: () => undefined },
  };
  const storeWith = async (showing: ReturnType<typeof showingLog>): Promise<void> => {
    const events: readonly CanonicalEvent[] = [...room.t.events];
    const { lastSeq = 0 } = (await log.head({ tenant: 'default', conversationId: 'test' })) ?? {};
    for (const event of events.filter(({ seq }) => seq > lastSeq))
      await showing.append({
        ...{ tenant: 'default', conversationId: 'test', runId: 'run', events: [event] },
      });
  };
  const showing = showingLog(deps);
  return { ...room, deps, storeWith, store: () => storeWith(showing) };
}

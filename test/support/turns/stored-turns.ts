/** A conversation of a store with two turns, of which one waits in the queue while the other goes on. */
import { onTestFinished } from 'vitest';
import type { ConversationReader } from '../../../src/client/ports/reader.js';
import { createStoreReader } from '../../../src/projection/reading/store-reader.js';
import type { EventBody } from '../../../src/protocol/log/events.js';
import type { LiveEvent } from '../../../src/protocol/log/live-events.js';
import type { ConversationKey } from '../../../src/protocol/values/ids.js';
import { createLocalLiveChannel } from '../../../src/store/live/local.js';
import { openSqliteEventLog } from '../event-logs.js';
import { answers, asks, stamped, started } from '../samples/log-events.js';

export const KEY: ConversationKey = { tenant: 'acme', conversationId: 'talk' };
export const FIRST = 'turn_a_1';
export const SECOND = 'turn_a_2';

const [askOne, startOne] = asks(FIRST) as [EventBody, EventBody];
const [askTwo, startTwo] = asks(SECOND) as [EventBody, EventBody];

/** Seqs 2 to 4: the first turn runs, and the second waits. */
export const BEGUN: readonly EventBody[] = [askOne, startOne, askTwo];
/** Seqs 5 to 11. */
export const REST: readonly EventBody[] = [...answers(FIRST), startTwo, ...answers(SECOND)];
export const OF_FIRST = [
  ...['1-2 user_message', '1-3 turn_started', '1-5 model_call', '1-6 assistant_message'],
  '1-7 turn_ended',
];
export const OF_SECOND = [
  ...['1-4 user_message', '1-8 turn_started', '1-9 model_call', '1-10 assistant_message'],
  '1-11 turn_ended',
];

export function delta(turnId: string, text: string): LiveEvent {
  const of = { turnId, step: 1, attempt: 1, messageId: `${turnId}.1` };
  return { type: 'text_delta', ...of, offset: 0, text };
}

export interface StoredTurns {
  readonly reader: ConversationReader;
  /** Stores these next events of the run. */
  readonly store: (...bodies: readonly EventBody[]) => Promise<void>;
  /** Stores the beginning of the log of another run, which has decided otherwise; `store` goes on with it. */
  readonly rewrite: (...bodies: readonly EventBody[]) => Promise<void>;
  readonly says: (event: LiveEvent) => void;
  readonly isWatched: () => boolean;
  /** Copies the log as it is into a fork, which begins to run. */
  readonly fork: (conversationId: string, ...bodies: readonly EventBody[]) => Promise<void>;
  readonly remove: () => Promise<void>;
}

/** With nothing but its beginning. */
export async function storedTurns(): Promise<StoredTurns> {
  const log = await openSqliteEventLog({ file: ':memory:' });
  onTestFinished(() => log.close());
  const live = createLocalLiveChannel();
  const append = async (events: ReturnType<typeof stamped>, runId: string): Promise<void> => {
    const result = await log.append({ ...KEY, runId, events });
    if (!('head' in result)) throw new Error(result.outcome);
    const { generation, lastSeq } = result.head;
    live.publish({ type: 'appended', ...KEY, generation, lastSeq });
  };
  let [next, runId] = [1, 'r'];
  const store = async (...bodies: readonly EventBody[]): Promise<void> => {
    await append(stamped(bodies, { from: next, clock: runId === 'r' ? 0 : 500 }), runId);
    next += bodies.length;
  };
  const rewrite = async (...bodies: readonly EventBody[]): Promise<void> => {
    [next, runId] = [1, 'r2'];
    await store(started(KEY), ...bodies);
  };
  const fork = async (conversationId: string, ...bodies: readonly EventBody[]): Promise<void> => {
    const key = { ...KEY, conversationId };
    const read = await log.read(KEY);
    const copied = (read?.events ?? []).map((event) =>
      event.type === 'conversation_started' ? { ...event, ...key } : event,
    );
    await log.append({ ...key, runId: conversationId, events: copied, copied: true });
    const origin = { conversationId: KEY.conversationId, generation: 1, seq: copied.length };
    const begins = { ...started(key), origin } as EventBody;
    const own = stamped([begins, ...bodies], { from: copied.length + 1 });
    await log.append({ ...key, runId: conversationId, events: own });
  };
  const remove = async (): Promise<void> => {
    const head = await log.head(KEY);
    await log.beginDeletion({ ...KEY, runIds: [] });
    // A hint wakes the watchers.
    live.publish({ type: 'appended', ...KEY, generation: 1, lastSeq: (head?.lastSeq ?? 0) + 1 });
  };
  await store(started(KEY));
  return {
    reader: createStoreReader({ log, live, source: 'none' }),
    store,
    rewrite,
    says: (event) => {
      live.publish({ type: 'live', ...KEY, event });
    },
    isWatched: () => live.watched(KEY)?.live === true,
    ...{ fork, remove },
  };
}

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
  /** Stores the log of another run, which has decided otherwise. */
  readonly rewrite: (...bodies: readonly EventBody[]) => Promise<void>;
  readonly says: (event: LiveEvent) => void;
  readonly isWatched: () => boolean;
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
  let next = 1;
  const store = async (...bodies: readonly EventBody[]): Promise<void> => {
    await append(stamped(bodies, { from: next }), 'r');
    next += bodies.length;
  };
  await store(started(KEY));
  return {
    reader: createStoreReader({ log, live, source: 'none' }),
    store,
    rewrite: (...bodies) => append(stamped([started(KEY), ...bodies], { clock: 500 }), 'r2'),
    says: (event) => {
      live.publish({ type: 'live', ...KEY, event });
    },
    isWatched: () => live.watched(KEY)?.live === true,
  };
}

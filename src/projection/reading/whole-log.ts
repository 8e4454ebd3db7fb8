/** Reads a stored log page by page. */
import { setImmediate } from 'node:timers/promises';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { type EventLog, StoreUnavailable } from '../../store/ports/log.js';

/**
 * The events of a generation, by default the newest, from the first on; none when the store has no such log. Timers run
 * between two pages, however fast the store is: a caller that folds a long log still sends its heartbeats.
 * @throws {StoreUnavailable} also when the log is removed in the meantime: another try finds none
 */
export async function* wholeLog(
  log: Pick<EventLog, 'read'>,
  key: ConversationKey,
  wanted?: number,
): AsyncGenerator<CanonicalEvent> {
  let afterSeq = 0;
  let generation = wanted;
  for (let more = true; more; ) {
    const of = generation === undefined ? {} : { generation };
    const read = await log.read(key, { afterSeq, ...of });
    if (read === undefined && afterSeq === 0) return;
    if (read === undefined) throw new StoreUnavailable('The log was removed while it was read');
    yield* read.events;
    await setImmediate();
    ({ generation, more } = read);
    afterSeq = read.events.at(-1)?.seq ?? afterSeq;
  }
}

/**
 * Recoveries that a history contains already, from earlier repairs. The next recovery replaces them, so their content
 * becomes part of it: outcomes of tools that ran before the first reset are recorded nowhere else.
 */
import type { LoadedDataConverter } from '@temporalio/common';
import { decodedValues } from '../../client/history/values.js';
import { isReset } from '../../client/trouble/reset.js';
import type { HistoryEvent } from '../../projection/source/history-tail.js';
import { SIGNALS } from '../../protocol/workflow/messaging.js';
import {
  entriesOf,
  newestWhole,
  type RecoveredEntry,
  type RecoverInput,
  recoverInputOf,
} from '../../protocol/workflow/recovery.js';
import { doneTasks, idOf, type SignalEvent, signalIn } from './history.js';

export interface EarlierRecovery {
  /** Id of the event of its last part: there the run applied the entries, or would. */
  readonly at: number;
  /** Ids of the signals that it replaced in its run: its entries contain them. */
  readonly replaced: ReadonlySet<number>;
  readonly entries: readonly RecoveredEntry[];
}

/**
 * Finds them as `RecoverFirst` does (`workflows/driver/recovery.ts`): the newest complete recovery among the signals of
 * the first task behind a reset.
 */
export async function earlierRecoveries(
  events: readonly HistoryEvent[],
  converter: LoadedDataConverter,
): Promise<readonly EarlierRecovery[]> {
  const started = doneTasks(events).map(({ startedId }) => startedId);
  const found = new Map<number, EarlierRecovery>();
  for (const reset of events.filter(isReset).map(idOf)) {
    const from = started.findLast((id) => id < reset) ?? 0;
    const to = started.find((id) => id > reset) ?? Number.POSITIVE_INFINITY;
    const signals = events.flatMap((event) => {
      const signal = signalIn(event);
      return signal !== undefined && signal.id > from && signal.id < to ? [signal] : [];
    });
    const recovery = await recoveryAmong(signals, converter);
    if (recovery !== undefined) found.set(recovery.at, recovery);
  }
  return [...found.values()];
}

async function recoveryAmong(
  signals: readonly SignalEvent[],
  converter: LoadedDataConverter,
): Promise<EarlierRecovery | undefined> {
  const found: (RecoverInput & { readonly id: number })[] = [];
  for (const signal of signals) {
    const given = await recoverPartOf(signal, converter);
    if (given !== undefined) found.push({ ...given, id: signal.id });
  }
  const parts = newestWhole(found);
  const [first, last] = [parts[0], parts.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const replaced = signals.filter(({ id }) => id < first.id).map(({ id }) => id);
  return { at: last.id, replaced: new Set(replaced), entries: entriesOf(parts) };
}

/** The part of a recovery that a signal has; undefined for other signals, and for malformed parts. */
export async function recoverPartOf(
  { name, payloads }: SignalEvent,
  converter: LoadedDataConverter,
): Promise<RecoverInput | undefined> {
  if (name !== SIGNALS.recover) return undefined;
  try {
    const [input] = await decodedValues(converter, payloads);
    return recoverInputOf(input);
  } catch {
    return undefined;
  }
}

/**
 * Decides when a conversation continues in a new run: by the server's counters, and by whether the state can be carried
 * over.
 */
import { workflowInfo } from '@temporalio/workflow';
import {
  carriedBytes,
  droppedAtRollOver,
  MAX_CARRIED_STATE_BYTES,
} from '../../core/context/carry-over.js';
import type { ConversationState } from '../../core/state/state.js';
import {
  MAX_CARRIED_EVENT_BYTES,
  ROLL_OVER_HISTORY_BYTES,
  ROLL_OVER_SIGNAL_COUNT,
  ROLL_OVER_UPDATE_COUNT,
} from '../../protocol/limits/limits.js';
import type { CanonicalEvent, RollOverReason } from '../../protocol/log/events.js';
import { utf8Bytes } from '../../protocol/values/json.js';
import type { RollOverBounds } from '../../protocol/workflow/messaging.js';

/** Number of events to wait after a roll-over that failed because the store could take nothing. */
const RETRY_AFTER_EVENTS = 50;

/** Least number of events of a run, so that it makes progress however tight its bounds are. */
const LEAST_EVENTS = 20;

/** A third of the size at which the server terminates a run. */
const OVERDUE_HISTORY_BYTES = 16 * 1024 * 1024;

export class RollOver {
  readonly #bounds: RollOverBounds;
  #updates = 0;
  #signals = 0;
  #requested = false;
  #notBeforeSeq = 0;

  constructor(bounds: RollOverBounds = {}) {
    this.#bounds = bounds;
  }

  countUpdate(): void {
    this.#updates += 1;
  }

  countSignal(): void {
    this.#signals += 1;
  }

  request(): void {
    this.#requested = true;
  }

  postpone(lastSeq: number): void {
    this.#notBeforeSeq = lastSeq + RETRY_AFTER_EVENTS;
  }

  /** True when the run has grown so far that it must not wait for anything. */
  get overdue(): boolean {
    return workflowInfo().historySize > OVERDUE_HISTORY_BYTES;
  }

  /**
   * Returns why the run should end at the next quiet point, or undefined. `crowded`: its turn has steps that should be
   * offloaded.
   */
  due(lastSeq: number, crowded = false): RollOverReason | undefined {
    if (lastSeq < this.#notBeforeSeq) return undefined;
    if (this.#requested) return 'requested';
    const { historySize, historyLength, continueAsNewSuggested } = workflowInfo();
    if (historySize > ROLL_OVER_HISTORY_BYTES) return 'history_size';
    if (continueAsNewSuggested) return 'suggested';
    const { bytes = Infinity, events = Infinity, updates, signals } = this.#bounds;
    if (historyLength > LEAST_EVENTS && historySize > bytes) return 'history_size';
    if (historyLength > Math.max(LEAST_EVENTS, events)) return 'history_events';
    if (this.#updates >= (updates ?? ROLL_OVER_UPDATE_COUNT)) return 'update_count';
    if (this.#signals >= (signals ?? ROLL_OVER_SIGNAL_COUNT)) return 'signal_count';
    return crowded ? 'turn_size' : undefined;
  }
}

/** True when a roll-over would drop messages that the blob store could still take once it is available again. */
export function losesMessages(state: ConversationState): boolean {
  return droppedAtRollOver(state) > 0;
}

/**
 * False when the store is so far behind that too much of the log would have to be carried over, or when a turn in
 * progress has grown so large that the server would refuse the payload. That would fail the task forever, while a run
 * may still grow.
 */
export function canCarry(
  state: ConversationState,
  unconfirmed: readonly CanonicalEvent[],
): boolean {
  return (
    utf8Bytes(JSON.stringify(unconfirmed)) <= MAX_CARRIED_EVENT_BYTES &&
    carriedBytes(state) <= MAX_CARRIED_STATE_BYTES
  );
}

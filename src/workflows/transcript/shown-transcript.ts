/**
 * Gives the worker of a replayed run the messages that its next model call continues from: earlier calls were given
 * them, perhaps by a worker that is gone. Without them the activity would query the run. Costs no history.
 */
import { proxySinks, type Sinks, workflowInfo } from '@temporalio/workflow';
import type { ConversationState } from '../../core/state/state.js';
import { HINT_SINK } from '../../protocol/workflow/messaging.js';
import type { TranscriptDelta, TranscriptSlice } from '../../protocol/workflow/transcript-delta.js';
import { slicesBefore } from './transcript-window.js';

interface TranscriptSinks extends Sinks {
  readonly [HINT_SINK]: { transcript(slices: readonly TranscriptSlice[]): void };
}

const sinks = proxySinks<TranscriptSinks>();

export class ShownTranscript {
  /** True once a model call of this instance was scheduled in a task that was no replay. */
  #isKnown = false;

  /** To be called for each model call, with the transcript that it is sent. */
  called(state: ConversationState, delta: TranscriptDelta): void {
    if (workflowInfo().unsafe.isReplaying) return;
    if (!this.#isKnown && delta.base > 0) {
      const { [HINT_SINK]: sink } = sinks;
      sink.transcript(slicesBefore(state, delta));
    }
    this.#isKnown = true;
  }
}

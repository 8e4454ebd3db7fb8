/** Has a summary made in the background: a piece of work that no turn waits for, and that a roll-over gives up. */
import { isCancellation, log } from '@temporalio/workflow';
import { summarizable } from '../../core/context/summaries.js';
import type { ExternalEffect } from '../../core/decide/effects.js';
import type { ConversationMachine } from '../../core/machine/machine.js';
import type { SummaryPause } from '../../core/machine/summary-pause.js';
import type { SummarizeInput, SummarizeResult } from '../../protocol/workflow/activities.js';
import { isTranscriptMiss, turnErrorOf } from '../activities/activity-losses.js';
import { activities, SUMMARIZE, summaryOf } from '../activities/schedule.js';
import type { TranscriptWindow } from '../transcript/transcript-window.js';
import type { Work } from './call-work.js';

export interface Summaries {
  readonly machine: ConversationMachine;
  readonly transcript: TranscriptWindow;
  readonly pause: SummaryPause;
}

export function summaryWork(
  { machine, transcript, pause }: Summaries,
  { ordinal }: Extract<ExternalEffect, { type: 'summarize' }>,
): Work<SummarizeResult> {
  const { state } = machine;
  const { tenant, conversationId, agent } = state;
  const input: SummarizeInput = {
    tenant,
    conversationId,
    agent,
    ordinal,
    transcript: transcript.front(state, summarizable(state)),
  };
  // Without an id of its own: one that was given up may still be running when the next is started.
  const options = { ...SUMMARIZE, summary: summaryOf(`summary ${ordinal} of the conversation`) };
  return {
    run: () => activities.summarize.executeWithOptions(options, [input]),
    done: (made) => {
      if (machine.summarized(ordinal, made)) pause.succeeded();
      // The next would be as useless, and the model has to be paid.
      else pause.failed(machine.state);
    },
    failed: (error) => {
      if (isCancellation(error)) return;
      if (isTranscriptMiss(error) && transcript.frontMissed()) return;
      pause.failed(machine.state);
      log.warn('summary failed; turns go on without', { ordinal, ...turnErrorOf(error) });
    },
  };
}

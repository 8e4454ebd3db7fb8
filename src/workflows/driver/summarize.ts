/** Makes a summary in the background: no turn waits for it, and a roll-over gives it up. */
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
  // The activity has no id of its own: an abandoned one may still run when the next is started.
  const options = { ...SUMMARIZE, summary: summaryOf(`summary ${ordinal} of the conversation`) };
  return {
    run: () => activities.summarize.executeWithOptions(options, [input]),
    done: (made) => {
      if (machine.summarized(ordinal, made)) pause.succeeded();
      // The next summary would be just as useless, and costs model tokens.
      else pause.failed(machine.state);
    },
    failed: (error) => {
      if (isCancellation(error)) return;
      if (isTranscriptMiss(error) && transcript.frontMissed()) return;
      pause.failed(machine.state);
      log.warn('summary failed; turns continue without it', { ordinal, ...turnErrorOf(error) });
    },
  };
}

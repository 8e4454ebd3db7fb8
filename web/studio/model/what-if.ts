/** A what-if in words. Pure. */
import type {
  ListedWhatIf,
  WhatIfCancelled,
  WhatIfReport,
  WhatIfStep,
} from 'colloquy/browser/studio';

export const COMPARED: Readonly<Record<WhatIfStep['compared'], string>> = {
  same: 'as recorded',
  differs: 'another answer',
  added: 'a further step',
};

/** `Diverged at step 2: refund {"cents":1} has no recorded result.` */
export function whatIfEndWords(report: WhatIfReport | ListedWhatIf): string {
  switch (report.state) {
    case 'running':
      return ('warning' in report ? report.warning : undefined) ?? 'Asks the model …';
    case 'cancelled':
      return stepsOf(report) === 0
        ? 'Cancelled before its first step ended.'
        : `Cancelled after ${stepsWords(stepsOf(report))}.`;
    case 'failed':
      return `Failed (${report.error.code}): ${report.error.message}`;
    case 'ended':
      return report.reason === 'answered'
        ? `Ended after ${stepsWords(stepsOf(report))}.`
        : `Stopped after ${stepsWords(stepsOf(report))}, the most that were allowed.`;
    case 'diverged': {
      const { step, name, arguments: given, reason } = report.diverged;
      const why =
        reason === 'no_result' ? 'its recorded call has no result' : 'nothing is recorded for it';
      return `Diverged at step ${step}: ${name} ${given}: ${why}.`;
    }
  }
}

/** The verdict on a cancel. */
export function whatIfCancelledWords(outcome: WhatIfCancelled): string {
  return outcome.status === 'stopping'
    ? (outcome.warning ?? 'Its model call is being stopped.')
    : OVER[outcome.state];
}

const OVER: Readonly<
  Record<Extract<WhatIfCancelled, { readonly status: 'over' }>['state'], string>
> = {
  cancelled: 'It was cancelled before.',
  diverged: 'It had already diverged.',
  ended: 'It had already ended.',
  failed: 'It had already failed.',
};

function stepsOf(
  report: Exclude<WhatIfReport | ListedWhatIf, { readonly state: 'running' }>,
): number {
  return 'steps' in report ? report.steps.length : report.stepCount;
}

function stepsWords(count: number): string {
  return count === 1 ? 'one step' : `${count} steps`;
}

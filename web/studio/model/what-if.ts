/** A what-if in words. Pure. */
import type { WhatIfReport, WhatIfStep } from 'colloquy/browser/studio';

export const COMPARED: Readonly<Record<WhatIfStep['compared'], string>> = {
  same: 'as recorded',
  differs: 'another answer',
  added: 'a further step',
};

/** `Diverged at step 2: refund {"cents":1} has no recorded result.` */
export function whatIfEndWords(report: WhatIfReport): string {
  switch (report.state) {
    case 'running':
      return report.warning ?? 'Asks the model …';
    case 'failed':
      return `Failed (${report.error.code}): ${report.error.message}`;
    case 'ended':
      return report.reason === 'answered'
        ? `Ended after ${stepsWords(report.steps.length)}.`
        : `Stopped after ${stepsWords(report.steps.length)}, the most that were allowed.`;
    case 'diverged': {
      const { step, name, arguments: given, reason } = report.diverged;
      const why =
        reason === 'no_result' ? 'its recorded call has no result' : 'nothing is recorded for it';
      return `Diverged at step ${step}: ${name} ${given}: ${why}.`;
    }
  }
}

function stepsWords(count: number): string {
  return count === 1 ? 'one step' : `${count} steps`;
}

/** Reports what became of a run whose outcome is unknown, as the person has found it out. */
import type { Json, Resolution } from 'colloquy/browser';
import { FormField } from 'colloquy/react';
import { type ReactNode, useState } from 'react';

const RESULT = { name: 'result', type: 'json', title: 'It ran; its result as JSON' } as const;
const ERROR = { name: 'error', type: 'text', title: 'It had no effect; why' } as const;

/** The entries of the person. */
export interface OutcomeTexts {
  readonly json?: string;
  readonly reason?: string;
}

export function OutcomeForm(props: {
  readonly id?: string;
  readonly texts: OutcomeTexts;
  readonly onTexts: (texts: OutcomeTexts) => void;
  readonly isBusy: boolean;
  readonly onAnswer: (resolution: Resolution) => void;
}): ReactNode {
  const { id, texts, onTexts, isBusy, onAnswer } = props;
  const [problem, setProblem] = useState<string>();
  const { json = '', reason = '' } = texts;
  const report = (): void => {
    try {
      onAnswer({ type: 'outcome', value: JSON.parse(json) as Json });
      setProblem(undefined);
    } catch {
      setProblem('is not JSON');
    }
  };
  return (
    <form id={id} noValidate onSubmit={(event) => event.preventDefault()}>
      <h3>Find out what the run did, and report it</h3>
      <FormField
        field={{ ...RESULT, required: true }}
        value={json}
        error={problem}
        onChange={(value) => onTexts({ ...texts, json: String(value) })}
      />
      <button type="button" disabled={isBusy} onClick={report}>
        Report the result
      </button>
      <FormField
        field={{ ...ERROR, required: true }}
        value={reason}
        error={undefined}
        onChange={(value) => onTexts({ ...texts, reason: String(value) })}
      />
      <button
        type="button"
        disabled={isBusy || reason.trim() === ''}
        onClick={() => onAnswer({ type: 'outcome', error: reason.trim() })}
      >
        Report that it failed
      </button>
    </form>
  );
}

/** A what-if while it runs, and its steps beside the recorded ones at its end. */
import { type WhatIfReport, type WhatIfSide, whatIfReportOf } from 'colloquy/browser/studio';
import { type ReactNode, useEffect, useState } from 'react';
import { whyOf } from '../../shared/why.js';
import { COMPARED, whatIfEndWords } from '../model/what-if.js';
import { CancelWhatIf, type OfWhatIf } from './cancel-what-if.js';

const POLL_MS = 1_000;

type Shown = { readonly report?: WhatIfReport; readonly why?: string };

/** `listedAs`: its name in the list, which has the button that cancels it. */
export function WhatIfSteps(props: OfWhatIf & { readonly listedAs?: string }): ReactNode {
  const { session, id, whatIfId, listedAs } = props;
  const [{ report, why }, show] = useState<Shown>({});
  useEffect(() => {
    let isLeft = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (): Promise<void> => {
      const read: Shown = await whatIfReportOf(session.client, id, whatIfId).then(
        (found) => ({ report: found }),
        (error: unknown) => ({ why: whyOf(error) }),
      );
      if (isLeft) return;
      show(read);
      // A refusal may pass: the API restarts.
      if (read.report === undefined || read.report.state === 'running')
        timer = setTimeout(() => void look(), POLL_MS);
    };
    void look();
    return () => {
      isLeft = true;
      clearTimeout(timer);
    };
  }, [session, id, whatIfId]);
  const end = report === undefined ? (why ?? 'Asks the model …') : whatIfEndWords(report);
  return (
    <section aria-label={listedAs ?? 'What if'}>
      <p role="status">{end}</p>
      {listedAs === undefined ? (
        <CancelWhatIf {...props} isRunning={report?.state === 'running'} />
      ) : undefined}
      {report === undefined || report.state === 'running' ? undefined : (
        <ol className="what-if">
          {report.steps.map(({ step, compared, recorded, answer }) => (
            <li key={step}>
              <p>
                <b>Step {step}</b>: {COMPARED[compared]}
              </p>
              <div className="halves">
                <Side title="Recorded" side={recorded} />
                <Side title="What if" side={answer} />
              </div>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function Side(props: { readonly title: string; readonly side: WhatIfSide | undefined }): ReactNode {
  const { title, side } = props;
  return (
    <div>
      <h4>
        {title}
        {side?.model === undefined ? '' : `, ${side.model}`}
      </h4>
      {side === undefined ? <p className="hint">No such step.</p> : undefined}
      {side === undefined || side.text === '' ? undefined : <p className="text">{side.text}</p>}
      {side?.calls.map((call, index) => (
        <p key={`${index} ${call.name}`} className="code text">
          {call.name} {call.arguments}
        </p>
      ))}
    </div>
  );
}

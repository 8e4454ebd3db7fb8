/** Plays the turn at the cursor again with another prompt or agent, and shows both side by side. No tool runs. */
import {
  type WhatIfReport,
  type WhatIfSide,
  whatIfOf,
  whatIfReportOf,
} from 'colloquy/browser/studio';
import { agentsOf } from 'colloquy/browser/worklist';
import { type ReactNode, type SyntheticEvent, useEffect, useId, useState } from 'react';
import type { Session } from '../../session/session.js';
import { whyOf } from '../../shared/why.js';
import { useAct } from '../hooks/use-act.js';
import { useRead } from '../hooks/use-read.js';
import { turnAt } from '../model/cursor.js';
import { COMPARED, whatIfEndWords } from '../model/what-if.js';
import type { ActsProps } from './props.js';
import { Said } from './said.js';

export function WhatIf(props: ActsProps): ReactNode {
  const { log, turns } = props;
  const atCursor = turnAt(turns, log.index);
  // The turn at which it was opened: what is typed, and the answers of the model, stay while the cursor goes on.
  const [opened, setOpened] = useState<string>();
  const turn = turns.find(({ turnId }) => turnId === opened) ?? atCursor;
  if (turn === undefined) return undefined;
  const { turnId } = turn;
  return (
    <details
      className="pane"
      onToggle={({ currentTarget }) => setOpened(currentTarget.open ? turnId : undefined)}
    >
      <summary>What if: turn {turns.indexOf(turn) + 1} with another prompt or agent</summary>
      {opened === undefined ? undefined : <Playing key={turnId} {...props} turnId={turnId} />}
    </details>
  );
}

function Playing({ session, id, log, turnId }: ActsProps & { readonly turnId: string }): ReactNode {
  const act = useAct();
  const field = useId();
  const agents = useRead('agents', async () => await agentsOf(session.client));
  const [begun, setBegun] = useState<string>();
  const [typed, setTyped] = useState({ agent: '', instructions: '' });
  const isEmpty = typed.agent === '' && typed.instructions.trim() === '';
  const play = (event: SyntheticEvent): void => {
    event.preventDefault();
    act.run(async () => {
      const { agent, instructions } = typed;
      const whatIfId = await whatIfOf(session.client, id, {
        ...{ turnId, generation: log.view.generation },
        ...(agent === '' ? {} : { agent }),
        ...(instructions.trim() === '' ? {} : { instructions }),
      });
      setBegun(whatIfId);
      return 'The turn is played again.';
    });
  };
  return (
    <form onSubmit={play}>
      <p className="hint">
        The model is asked again, and costs what it costs. Calls get the recorded results; no tool
        runs, and the conversation stays as it is.
      </p>
      <label htmlFor={`${field}-agent`}>Agent</label>{' '}
      <select
        id={`${field}-agent`}
        value={typed.agent}
        onChange={({ target }) => setTyped({ ...typed, agent: target.value })}
      >
        <option value="">as recorded</option>
        {(agents.is === 'read' ? agents.value : []).map(({ name }) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <label htmlFor={`${field}-instructions`}>Instructions in place of the agent's</label>
      <textarea
        id={`${field}-instructions`}
        rows={4}
        value={typed.instructions}
        onChange={({ target }) => setTyped({ ...typed, instructions: target.value })}
      />
      <button type="submit" disabled={act.isBusy || isEmpty}>
        Play the turn again
      </button>
      <Said act={act} />
      {begun === undefined ? undefined : (
        <Report key={begun} session={session} id={id} whatIfId={begun} />
      )}
    </form>
  );
}

const POLL_MS = 1_000;

type Shown = { readonly report?: WhatIfReport; readonly why?: string };

function Report(props: {
  readonly session: Session;
  readonly id: string;
  readonly whatIfId: string;
}): ReactNode {
  const { session, id, whatIfId } = props;
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
    <section aria-label="What if">
      <p role="status">{end}</p>
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

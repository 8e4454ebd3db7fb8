/** Plays the turn at the cursor again with another prompt or agent, and shows both side by side. No tool runs. */
import { whatIfOf } from 'colloquy/browser/studio';
import { agentsOf } from 'colloquy/browser/worklist';
import { type ReactNode, type SyntheticEvent, useId, useState } from 'react';
import { useAct } from '../../shared/use-act.js';
import { useRead } from '../hooks/use-read.js';
import { turnAt } from '../model/cursor.js';
import type { ActsProps } from './props.js';
import { Said } from './said.js';
import { WhatIfSteps } from './what-if-steps.js';

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
        <WhatIfSteps key={begun} session={session} id={id} whatIfId={begun} />
      )}
    </form>
  );
}

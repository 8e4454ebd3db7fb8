/** Cancels a what-if that runs, and says what became of it. */
import { cancelWhatIf } from 'colloquy/browser/studio';
import type { ReactNode } from 'react';
import type { Session } from '../../session/session.js';
import { useRights } from '../../session/use-rights.js';
import { useAct } from '../../shared/use-act.js';
import { whatIfCancelledWords } from '../model/what-if.js';
import { Said } from './said.js';

export interface OfWhatIf {
  readonly session: Session;
  readonly id: string;
  readonly whatIfId: string;
}

/** The button goes when the what-if has ended; the verdict stays. */
export function CancelWhatIf(props: OfWhatIf & { readonly isRunning: boolean }): ReactNode {
  const { session, id, whatIfId, isRunning } = props;
  const act = useAct();
  const rights = useRights(session);
  if (!rights.includes('cancel')) return undefined;
  if (!isRunning && act.said === '') return undefined;
  const cancel = (): void => {
    act.run(async () => whatIfCancelledWords(await cancelWhatIf(session.client, id, whatIfId)));
  };
  return (
    <>
      {isRunning ? (
        <button type="button" disabled={act.isBusy} onClick={cancel}>
          Cancel the what-if
        </button>
      ) : undefined}
      <Said act={act} />
    </>
  );
}

/** Deletes the conversation, once its id has been typed. */
import { deleteConversation } from 'colloquy/browser/studio';
import { type ReactNode, type SyntheticEvent, useState } from 'react';
import { Dialog } from '../../shared/dialog.js';
import { PLACES } from '../../shared/places.js';
import { useAct } from '../../shared/use-act.js';
import type { ActsProps } from './props.js';
import { Said } from './said.js';

export function Delete({ session, id }: ActsProps): ReactNode {
  const [isAsking, setAsking] = useState(false);
  const [typed, setTyped] = useState('');
  const act = useAct();
  const close = (): void => {
    setAsking(false);
    setTyped('');
  };
  const remove = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (typed !== id || act.isBusy) return;
    act.run(async () => {
      await deleteConversation(session.client, id);
      location.assign(PLACES.find(({ name }) => name === 'conversations')?.path ?? '/ui');
      return 'Deleted.';
    });
  };
  return (
    <section aria-label="Deletion">
      <h3>Delete</h3>
      <button type="button" className="bad" onClick={() => setAsking(true)}>
        Delete …
      </button>
      {isAsking ? (
        <Dialog title={`Delete ${id}`} onClose={close}>
          <form onSubmit={remove}>
            <p>Its log, files and history are removed for good. Forks of it stay.</p>
            <label className="field">
              Type the id to delete it
              <input
                value={typed}
                autoComplete="off"
                onChange={({ target }) => setTyped(target.value)}
              />
            </label>
            <div className="actions">
              <button type="submit" className="bad" disabled={typed !== id || act.isBusy}>
                Delete for good
              </button>
              <button type="button" onClick={close}>
                Keep it
              </button>
            </div>
            <Said act={act} />
          </form>
        </Dialog>
      ) : undefined}
    </section>
  );
}

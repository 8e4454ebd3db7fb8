/** Forks the conversation at the cursor, and tries a failed turn again in a fork from the place before it. */
import { type ForkedConversation, forkOf, type LogPlace } from 'colloquy/browser/studio';
import { type ReactNode, useRef, useState } from 'react';
import { newId } from '../../shared/new-id.js';
import { conversationAddress } from '../../shared/places.js';
import { useAct } from '../../shared/use-act.js';
import { type LoggedTurn, messageOf, placeBefore } from '../model/cursor.js';
import type { ActsProps } from './props.js';
import { Said } from './said.js';

export function Fork({ session, id, log }: ActsProps): ReactNode {
  const { view, place, goTo } = log;
  const seq = place.event?.seq;
  const act = useAct();
  const [forked, setForked] = useState<{ readonly at: string; readonly id: string }>();
  const [pressed, setPressed] = useState<string>();
  const [reopen, setReopen] = useState<readonly string[]>([]);
  // One place is one fork, however often the button is pressed before the answer.
  const requestIds = useRef(new Map<string, string>());
  if (seq === undefined) return undefined;
  const pending = place.snapshot?.pending ?? [];
  const chosen = pending.map(({ toolCallId }) => toolCallId).filter((one) => reopen.includes(one));
  const at = `${view.generation}-${seq}`;
  const key = JSON.stringify([at, chosen]);
  const fork = (): void => {
    setPressed(key);
    act.run(async () => {
      const requestId = requestIds.current.get(key) ?? newId();
      requestIds.current.set(key, requestId);
      const from = { generation: view.generation, atSeq: seq, reopen: chosen, requestId };
      const made = await forkOf(session.client, id, from);
      requestIds.current.delete(key);
      setForked({ at, id: made.conversationId });
      return sentenceOn(made);
    });
  };
  return (
    <section aria-label="Fork">
      <h3>Fork</h3>
      {place.canFork ? (
        <>
          <Reopened pending={pending} reopen={reopen} onReopen={setReopen} />
          <button type="button" disabled={act.isBusy} onClick={fork}>
            Fork at {at}
          </button>
        </>
      ) : (
        <Nearest seq={seq} places={view.replay.forkPlaces()} onGoTo={goTo} />
      )}
      <Said act={pressed === key ? act : { ...act, said: '' }} />
      {forked === undefined ? undefined : (
        <p>
          <a href={conversationAddress(forked.id)}>Open the fork from {forked.at}</a>
        </p>
      )}
    </section>
  );
}

/** The waiting calls of the place: those that are chosen wait anew in the fork. */
function Reopened(props: {
  readonly pending: NonNullable<LogPlace['snapshot']>['pending'];
  readonly reopen: readonly string[];
  readonly onReopen: (reopen: readonly string[]) => void;
}): ReactNode {
  const { pending, reopen, onReopen } = props;
  return pending.map(({ toolCallId, name }) => (
    <label key={toolCallId} className="check">
      <input
        type="checkbox"
        checked={reopen.includes(toolCallId)}
        onChange={({ target }) =>
          onReopen(
            target.checked ? [...reopen, toolCallId] : reopen.filter((one) => one !== toolCallId),
          )
        }
      />{' '}
      {name} waits anew in the fork
    </label>
  ));
}

function sentenceOn({ notCarried, warning, status }: ForkedConversation): string {
  const left =
    notCarried.length === 0 ? '' : ` Calls that stay with the origin: ${notCarried.join(', ')}.`;
  return `${status === 'queued' ? (warning ?? 'Kept until a worker is up.') : 'Forked.'}${left}`;
}

function Nearest(props: {
  readonly seq: number;
  readonly places: ReadonlySet<number>;
  readonly onGoTo: (seq: number) => void;
}): ReactNode {
  const { seq, places, onGoTo } = props;
  const all = [...places];
  const near = [all.findLast((one) => one < seq), all.find((one) => one > seq)];
  return (
    <p className="hint">
      A fork begins at the end of a step or a turn.{' '}
      {near.map((one) =>
        one === undefined ? undefined : (
          <button key={one} type="button" className="plain" onClick={() => onGoTo(one)}>
            Go to {one}
          </button>
        ),
      )}
    </p>
  );
}

/** Shown for a failed turn at the cursor. The failed turn stays as it is. */
export function Retry(props: ActsProps & { readonly turn: LoggedTurn | undefined }): ReactNode {
  const { session, id, log, turn } = props;
  const { view } = log;
  const { events } = view.replay;
  const act = useAct();
  const [forked, setForked] = useState<string>();
  if (turn?.status !== 'failed') return undefined;
  const message = messageOf(events, turn);
  if (message === undefined) return undefined;
  const { text, hasFiles } = message;
  if (hasFiles)
    return (
      <Failed>
        <p className="hint">Its message has files: send it again by hand.</p>
      </Failed>
    );
  const atSeq = placeBefore(events, turn, view.replay.forkPlaces());
  const retry = (): void =>
    act.run(async () => {
      const target =
        atSeq === undefined
          ? id
          : (
              await forkOf(session.client, id, {
                ...{ generation: view.generation, atSeq },
                requestId: `retry-${turn.turnId}`.slice(0, 100),
              })
            ).conversationId;
      await session.client
        .conversation(target)
        .send(text, { requestId: `retry-${turn.turnId}`.slice(0, 100) });
      setForked(target);
      return atSeq === undefined ? 'The message is sent again.' : 'The turn runs again, in a fork.';
    });
  return (
    <Failed>
      <p className="hint">
        {atSeq === undefined
          ? 'There is no place before it to fork from: its message is sent again, to this conversation.'
          : `Its message is sent again, in a fork from ${view.generation}-${atSeq}.`}
      </p>
      <button type="button" disabled={act.isBusy} onClick={retry}>
        Try it again
      </button>
      <Said act={act} />
      {forked === undefined ? undefined : (
        <p>
          <a href={conversationAddress(forked)}>Open the conversation in which it runs</a>
        </p>
      )}
    </Failed>
  );
}

function Failed({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <section aria-label="Failed turn">
      <h3>The turn has failed</h3>
      {children}
    </section>
  );
}

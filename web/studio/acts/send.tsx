/** Sends a message, stops the running turn, closes the conversation. */
import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react';
import { useRights } from '../../session/use-rights.js';
import { newId } from '../../shared/new-id.js';
import { type Act, useAct } from '../../shared/use-act.js';
import type { SentProps } from './props.js';
import { Said } from './said.js';

export function Send({ session, log, conversation }: SentProps): ReactNode {
  const [text, setText] = useState('');
  // A text keeps its id until it is sent, so a second press sends it once.
  const requestId = useRef<string>(undefined);
  const act = useAct();
  const id = useId();
  const now = log.now.snapshot;
  const isClosed = now?.status === 'closed';
  const rights = useRights(session);
  const send = (): void => {
    if (text.trim() === '' || act.isBusy) return;
    requestId.current ??= newId();
    const options = { requestId: requestId.current, ...(isClosed ? { reopen: true } : {}) };
    act.run(async () => {
      const sent = await conversation.send(text, options);
      requestId.current = undefined;
      // Text that is typed meanwhile stays.
      setText((typed) => (typed === text ? '' : typed));
      return sent.status === 'queued' ? sent.warning : 'Sent.';
    });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !event.nativeEvent.isComposing)
      send();
  };
  return (
    <section aria-labelledby={id}>
      <h3 id={id}>Message</h3>
      <textarea
        aria-label="Message"
        value={text}
        onKeyDown={onKeyDown}
        onChange={({ target }) => {
          requestId.current = undefined;
          setText(target.value);
        }}
      />
      <div className="actions">
        <button type="button" disabled={act.isBusy || text.trim() === ''} onClick={send}>
          {isClosed ? 'Open again and send' : 'Send'}
        </button>
        <Ends {...{ conversation, act, isClosed }} turnId={now?.turn?.turnId} rights={rights} />
      </div>
      <Said act={act} />
    </section>
  );
}

function Ends(props: {
  readonly conversation: SentProps['conversation'];
  readonly act: Act;
  readonly isClosed: boolean;
  /** The turn that runs. */
  readonly turnId: string | undefined;
  readonly rights: readonly string[];
}): ReactNode {
  const { conversation, act, isClosed, turnId, rights } = props;
  if (isClosed || !rights.includes('cancel')) return undefined;
  // By its id: a second press must not stop the turn that comes next.
  const stop = (shown: string): void =>
    act.run(async () => {
      const stopped = await conversation.cancel({ turnId: shown });
      if (stopped.status === 'queued') return 'Kept until a worker is up.';
      return stopped.cancelled ? 'The turn is being stopped.' : 'The turn has ended already.';
    });
  const close = (): void =>
    act.run(async () => {
      await conversation.close();
      return 'Closed.';
    });
  return (
    <>
      {turnId === undefined ? undefined : (
        <button type="button" disabled={act.isBusy} onClick={() => stop(turnId)}>
          Stop the turn
        </button>
      )}
      <button type="button" disabled={act.isBusy} onClick={close}>
        Close the conversation
      </button>
    </>
  );
}

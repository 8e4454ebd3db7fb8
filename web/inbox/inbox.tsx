/** The inbox: the calls that wait, and the one that is open. */
import type { WorklistItem } from 'colloquy/browser/worklist';
import { type ReactNode, useState } from 'react';
import type { Session } from '../session/session.js';
import { Denial } from './detail/decision.js';
import { Detail } from './detail/detail.js';
import { Help } from './help.js';
import { useDrafts } from './hooks/drafts.js';
import { hold, useInbox } from './hooks/use-inbox.js';
import { Bar, ConnectionState } from './list/bar.js';
import { List } from './list/list.js';
import { nameOf } from './model/rows.js';
import { Tray } from './tray.js';

export function Inbox(props: {
  readonly session: Session;
  readonly onSignOut: () => void;
}): ReactNode {
  const { session, onSignOut } = props;
  const inbox = useInbox(session);
  const { choice, setChoice, view, list, looking, open, select } = inbox;
  const { rows, fresh, over, refresh } = list;
  return (
    <>
      <header className="top">
        <h1>Inbox</h1>
        <ConnectionState connection={view.connection} />
        <span className="who">{session.caller.actor.name ?? session.caller.actor.id}</span>
        <button type="button" onClick={() => inbox.setHelpOpen(true)}>
          Keys
        </button>
        <button type="button" onClick={onSignOut}>
          Sign out
        </button>
      </header>
      <main className="inbox">
        <section className="left" aria-label="Calls">
          <Bar {...{ choice, fresh, over }} onChoice={setChoice} onRefresh={refresh} />
          <News items={view.items} isRead={view.isRead} />
          {rows.length === 0 ? (
            <p className="empty">{view.isRead ? 'No call waits here.' : 'Reads the calls …'}</p>
          ) : (
            <List
              {...{ rows, current: looking.current, selected: looking.selected }}
              onOpen={open}
              onSelect={select}
            />
          )}
        </section>
        <Right session={session} inbox={inbox} />
      </main>
      <Tray answers={inbox.answers} outbox={inbox.outbox} />
      {inbox.isHelpOpen ? (
        <Help
          areKeysOn={inbox.keys.areKeysOn}
          onKeysOn={inbox.keys.setKeysOn}
          onClose={() => inbox.setHelpOpen(false)}
        />
      ) : undefined}
    </>
  );
}

function Right(props: {
  readonly session: Session;
  readonly inbox: ReturnType<typeof useInbox>;
}): ReactNode {
  const { session, inbox } = props;
  const { looking, look, row, outbox, decide } = inbox;
  const { draftOf, setDraft } = useDrafts();
  const count = looking.selected.size;
  return (
    <section className="right" aria-label="Call">
      {count === 0 ? undefined : (
        <p className="selected">
          {count} selected: <kbd>a</kbd> approves them, <kbd>d</kbd> denies them.
        </p>
      )}
      {count > 0 && looking.isDenying ? (
        <Denial
          label={`Reason for ${count} calls`}
          draft={draftOf('')}
          onDraft={(draft) => setDraft('', draft)}
          onDenying={(isDenying) => look({ isDenying })}
          isBusy={false}
          onAnswer={decide}
        />
      ) : undefined}
      {row === undefined ? (
        <p className="empty">Choose a call: j and k move, ? lists all keys.</p>
      ) : (
        <Detail
          key={row.item.ref}
          {...{ session, row, answer: outbox.of(row.item.ref), draft: draftOf(row.item.ref) }}
          onDraft={(draft) => setDraft(row.item.ref, draft)}
          isDenying={count === 0 && looking.isDenying}
          onDenying={(isDenying) => look({ isDenying })}
          onAnswer={(resolution, argsDigest) => hold(outbox, row, { resolution, argsDigest })}
        />
      )}
    </section>
  );
}

/** Says one sentence of each new call to a screen reader. */
function News(props: {
  readonly items: readonly WorklistItem[];
  readonly isRead: boolean;
}): ReactNode {
  const { items, isRead } = props;
  const [known, setKnown] = useState<ReadonlySet<string>>();
  const [text, setText] = useState('');
  const [of, setOf] = useState<readonly WorklistItem[]>();
  if (isRead && of !== items) {
    setOf(items);
    setKnown(new Set(items.map(({ ref }) => ref)));
    const fresh = known === undefined ? [] : items.filter(({ ref }) => !known.has(ref));
    const [first] = fresh;
    if (first !== undefined) setText(newsOf(first, fresh.length));
  }
  return (
    <p className="hidden" role="status">
      {text}
    </p>
  );
}

function newsOf(item: WorklistItem, count: number): string {
  const asked = item.requesters.length === 0 ? '' : ` for ${item.requesters.join(', ')}`;
  const more = count === 1 ? '' : `, and ${count - 1} more`;
  return `New: ${nameOf(item)}${asked}, until ${new Date(item.deadline).toLocaleTimeString()}${more}.`;
}

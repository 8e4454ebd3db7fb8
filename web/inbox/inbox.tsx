/** The inbox: the calls that wait, and the one that is open. */
import { type ReactNode, useEffect, useRef } from 'react';
import type { Session } from '../session/session.js';
import { useRights } from '../session/use-rights.js';
import { Boundary } from '../shared/boundary.js';
import { type FaceProps, Top } from '../shared/face.js';
import { Detail } from './detail/detail.js';
import { Bulk } from './dialogs/bulk.js';
import { Help } from './dialogs/help.js';
import { commandEntries, Palette } from './dialogs/palette.js';
import { type UsedInbox, useInbox } from './hooks/use-inbox.js';
import { Bar } from './list/bar.js';
import { Empty } from './list/empty.js';
import { List } from './list/list.js';
import { isWide } from './model/rows.js';
import { isSnoozed } from './model/snooze.js';
import { News } from './news.js';
import { Tray } from './tray.js';

export function Inbox(props: FaceProps): ReactNode {
  const { session } = props;
  const inbox = useInbox(session);
  const { choice, setChoice, view, list, looking, open, select } = inbox;
  const { rows } = list;
  const { current, selected } = looking;
  return (
    <>
      <Top {...props} connection={view.connection}>
        <button type="button" onClick={() => inbox.run('palette')}>
          Commands
        </button>
        <button type="button" onClick={() => inbox.run('help')}>
          Keys
        </button>
      </Top>
      <main className="inbox">
        <section className="left" aria-label="Calls">
          <Bar
            {...{ choice, list }}
            onChoice={setChoice}
            selected={selected.size}
            onSelectAll={() => inbox.run('selectAll')}
          />
          <News key={String(isWide(choice.view))} items={view.items} isRead={view.isRead} />
          {rows.length === 0 ? (
            <Empty {...{ view, choice }} onChoice={setChoice} />
          ) : (
            <List {...{ rows, current, selected }} onOpen={open} onSelect={select} />
          )}
        </section>
        <Right session={session} inbox={inbox} />
      </main>
      <Boundary name="The list of your answers" of={inbox.answers}>
        <Tray answers={inbox.answers} outbox={inbox.outbox} />
      </Boundary>
      <OpenDialog inbox={inbox} />
    </>
  );
}

function OpenDialog({ inbox }: { readonly inbox: UsedInbox }): ReactNode {
  const { looking, look, keys, choice, setChoice, list } = inbox;
  const { dialog } = looking;
  const onClose = (): void => look({ dialog: undefined });
  if (dialog === undefined) return undefined;
  if (dialog === 'help')
    return <Help areKeysOn={keys.areKeysOn} onKeysOn={keys.setKeysOn} onClose={onClose} />;
  if (dialog === 'palette') {
    const tools = list.tools.map(([tool, count]) => ({
      name: `tool ${tool}`,
      text: `show the calls of ${tool} (${count})`,
      run: () => setChoice({ ...choice, tool }),
    }));
    return <Palette entries={[...commandEntries(inbox.run), ...tools]} onClose={onClose} />;
  }
  return <Bulk type={dialog} summary={inbox.summary()} onDecide={inbox.decide} onClose={onClose} />;
}

/** As the media query of style.css. */
function isNarrow(): boolean {
  return matchMedia('(width < 720px)').matches;
}

function Right(props: { readonly session: Session; readonly inbox: UsedInbox }): ReactNode {
  const { session, inbox } = props;
  const { looking, look, row, view, outbox, drafts, snoozes } = inbox;
  const { draftOf, setDraft } = drafts;
  const mayAnswer = useRights(session).includes('answer');
  const count = looking.selected.size;
  const item = row?.item;
  const pane = useRef<HTMLElement>(null);
  useEffect(() => {
    // There the call is below the list.
    if (item?.ref !== undefined && isNarrow()) pane.current?.scrollIntoView();
  }, [item?.ref]);
  return (
    <section ref={pane} className="right" aria-label="Call">
      <button type="button" className="plain to-list" onClick={() => scrollTo(0, 0)}>
        Back to the list
      </button>
      {count === 0 || !mayAnswer ? undefined : (
        <div className="selected actions">
          <span>{count} selected</span>
          <button type="button" className="good" onClick={() => inbox.run('approve')}>
            Approve them …
          </button>
          <button type="button" className="bad" onClick={() => inbox.run('deny')}>
            Deny them …
          </button>
        </div>
      )}
      {row === undefined || item === undefined ? (
        <p className="empty">
          {view.isRead && looking.current !== undefined
            ? 'The chosen call is not in the list: it has ended, or another view has it.'
            : 'Choose a call: j and k move, ? lists all keys.'}
        </p>
      ) : (
        <Boundary key={item.ref} name="This call" of={item}>
          <Detail
            {...{ session, row, answer: outbox.of(item.ref), draft: draftOf(item.ref) }}
            onDraft={(draft) => setDraft(item.ref, draft)}
            isDenying={looking.isDenying}
            onDenying={(isDenying) => look({ isDenying })}
            onAnswer={(resolution, argsDigest) => inbox.answer({ resolution, argsDigest })}
            snoozedUntil={isSnoozed(item, snoozes, Date.now()) ? snoozes.get(item.ref) : undefined}
            onSnooze={(until) => inbox.snooze(item.ref, until)}
          />
        </Boundary>
      )}
    </section>
  );
}

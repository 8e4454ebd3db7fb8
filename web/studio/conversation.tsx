/** One conversation: its log in lanes, a cursor on it, and the state there. */
import { type ReactNode, useMemo } from 'react';
import { Boundary } from '../shared/boundary.js';
import { emptyWords, type FaceProps, Top } from '../shared/face.js';
import { conversationAddress } from '../shared/places.js';
import { Acts } from './acts/acts.js';
import { type UsedLog, useLog } from './hooks/use-log.js';
import { usePresent } from './hooks/use-read.js';
import { turnAt, turnsIn } from './model/cursor.js';
import { statusWords, usageWords, withTrouble } from './model/words.js';
import { EventPane } from './panes/event-pane.js';
import { Lanes } from './panes/lanes.js';
import { LogList } from './panes/log-list.js';
import { ModelCallPane } from './panes/model-call.js';
import { MessagesPane, PendingPane, StatePane } from './panes/panes.js';
import { RunLine } from './panes/run-line.js';
import { Scrubber } from './panes/scrubber.js';

export interface OpenedProps extends FaceProps {
  readonly id: string;
}

export function OneConversation(props: OpenedProps): ReactNode {
  const { session, id } = props;
  const log = useLog(session, id);
  const { view, place, index } = log;
  const { events } = view.replay;
  const turns = useMemo(() => turnsIn(events), [events]);
  const turn = turnAt(turns, index);
  return (
    <>
      <Top {...props} connection={view.connection} />
      <main className="studio">
        <Boundary name="The head" of={place}>
          <Head {...props} log={log} />
        </Boundary>
        {events.length === 0 ? (
          <p className="empty">
            {emptyWords(view, { reading: 'Reads the log …', none: 'Nothing of it is stored yet.' })}
          </p>
        ) : (
          <>
            <Scrubber log={log} turns={turns} />
            {turn === undefined ? undefined : (
              <Boundary name="The lanes" of={place}>
                <Lanes events={events.slice(turn.from, turn.to + 1)} turn={turn} log={log} />
              </Boundary>
            )}
            <div className="halves">
              <Boundary name="The log" of={view}>
                <LogList log={log} />
              </Boundary>
              <div className="panes">
                <Boundary name="The messages" of={place}>
                  <MessagesPane place={place} />
                </Boundary>
                <Boundary name="The calls" of={place}>
                  <PendingPane place={place} />
                </Boundary>
                <Boundary name="The state" of={place}>
                  <StatePane place={place} />
                </Boundary>
                <EventPane place={place} />
                <Boundary name="The model call" of={place}>
                  <ModelCallPane session={session} id={id} log={log} />
                </Boundary>
                <Boundary name="The acts" of={log.now}>
                  <Acts session={session} id={id} log={log} turns={turns} />
                </Boundary>
              </div>
            </div>
          </>
        )}
      </main>
    </>
  );
}

function Head({ session, id, log }: OpenedProps & { readonly log: UsedLog }): ReactNode {
  const { view, place, isLatest } = log;
  const { snapshot } = place;
  const now = usePresent(
    session,
    async () => await session.client.api.read<Present>(presentPath(id)),
  );
  const shown = isLatest && now.is === 'read' ? withTrouble(snapshot, now.value) : snapshot;
  const origin = snapshot?.origin;
  return (
    <header className="about">
      <h2>{id}</h2>
      {shown === undefined ? undefined : (
        <p className="hint">
          <span className={`status ${shown.status}`}>{statusWords(shown)}</span> · agent{' '}
          {shown.agent} · {usageWords(shown.usage)} · log {view.generation}
          {isLatest ? '' : ' · as it was at the cursor'}
        </p>
      )}
      {origin === undefined ? undefined : (
        <p className="hint">
          Fork of{' '}
          <a href={`${conversationAddress(origin.conversationId)}?at=${origin.seq}`}>
            {origin.conversationId}
          </a>{' '}
          at {origin.generation}-{origin.seq}.
        </p>
      )}
      <RunLine session={session} id={id} />
    </header>
  );
}

type Present = NonNullable<UsedLog['place']['snapshot']>;

function presentPath(id: string): string {
  return `/v1/conversations/${encodeURIComponent(id)}`;
}

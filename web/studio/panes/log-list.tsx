/** The numbered log. The row at the cursor is marked; a click moves the cursor. */
import { type ReactNode, useRef } from 'react';
import { useShownRows } from '../../shared/lists/shown-rows.js';
import type { UsedLog } from '../hooks/use-log.js';
import { eventWords } from '../model/words.js';

const ROW_PX = 48;

export function LogList({ log }: { readonly log: UsedLog }): ReactNode {
  const { view, index, goTo } = log;
  const { events } = view.replay;
  const scroller = useRef<HTMLDivElement>(null);
  const [first, last] = useShownRows(scroller, { count: events.length, rowPx: ROW_PX, at: index });
  return (
    <section className="log" aria-label="Log">
      <div className="scroller" ref={scroller}>
        <ol style={{ blockSize: events.length * ROW_PX }}>
          {events.slice(first, last).map((event, offset) => {
            const at = first + offset;
            return (
              <li
                key={event.seq}
                className={at === index ? 'event current' : 'event'}
                style={{ insetBlockStart: at * ROW_PX }}
                aria-setsize={events.length}
                aria-posinset={at + 1}
              >
                <button
                  type="button"
                  aria-current={at === index ? 'true' : undefined}
                  onClick={() => goTo(at === events.length - 1 ? undefined : event.seq)}
                >
                  <span className="line cut">
                    <b>{event.seq}</b> {event.type.replaceAll('_', ' ')}{' '}
                    <time className="hint" dateTime={event.at}>
                      {event.at.slice(11, 23)}
                    </time>
                  </span>
                  <span className="line cut hint">{eventWords(event)}</span>
                </button>
              </li>
            );
          })}
        </ol>
      </div>
    </section>
  );
}

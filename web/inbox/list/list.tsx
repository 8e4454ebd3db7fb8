/** The rows of the list. Only those that are seen are in the document, so 10,000 are as fast as ten. */
import type { WorklistItem } from 'colloquy/browser/worklist';
import { agoWords } from 'colloquy/react';
import { memo, type ReactNode, type RefObject, useEffect, useRef } from 'react';
import { Boundary } from '../../shared/boundary.js';
import { useShownRows } from '../../shared/lists/shown-rows.js';
import { useCoarseNow } from '../../shared/now.js';
import { nameOf, type Row } from '../model/rows.js';
import { Deadline } from './deadline.js';

const ROW_PX = 92;

export interface ListProps {
  readonly rows: readonly Row[];
  readonly current: string | undefined;
  readonly selected: ReadonlySet<string>;
  readonly onOpen: (ref: string) => void;
  /** `isRange`: with all rows since the one that was selected before. */
  readonly onSelect: (ref: string, isRange: boolean) => void;
}

export function List({ rows, current, selected, onOpen, onSelect }: ListProps): ReactNode {
  const scroller = useRef<HTMLDivElement>(null);
  const at = rows.findIndex(({ item }) => item.ref === current);
  const [first, last] = useShownRows(scroller, { count: rows.length, rowPx: ROW_PX, at });
  useFocusOnCurrent(scroller, current);
  return (
    <div className="scroller" ref={scroller}>
      <ul style={{ blockSize: rows.length * ROW_PX }} aria-label="Waiting calls">
        {rows.slice(first, last).map((row, offset) => {
          const index = first + offset;
          const { ref } = row.item;
          return (
            <li
              key={ref}
              style={{ transform: `translateY(${index * ROW_PX}px)` }}
              className={classOf(row, ref === current)}
              aria-setsize={rows.length}
              aria-posinset={index + 1}
            >
              <input
                type="checkbox"
                aria-label={`Select ${nameOf(row.item)}`}
                checked={selected.has(ref)}
                disabled={row.isOver}
                onChange={({ nativeEvent }) =>
                  onSelect(ref, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)
                }
              />
              <button
                type="button"
                aria-current={ref === current ? 'true' : undefined}
                onClick={() => onOpen(ref)}
              >
                <Boundary name="This call" of={row.item} isText>
                  <Content item={row.item} isOver={row.isOver} />
                </Boundary>
              </button>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

/** The focus follows the current row, unless it is somewhere else in the page. */
function useFocusOnCurrent(
  scroller: RefObject<HTMLElement | null>,
  current: string | undefined,
): void {
  useEffect(() => {
    if (current === undefined) return;
    // The row is in the document once the list has scrolled to it.
    const frame = requestAnimationFrame(() => {
      const { activeElement, body } = document;
      const list = scroller.current;
      if (activeElement !== body && list?.contains(activeElement) !== true) return;
      list?.querySelector<HTMLElement>('[aria-current]')?.focus({ preventScroll: true });
    });
    return () => cancelAnimationFrame(frame);
  }, [scroller, current]);
}

function classOf({ isOver }: Row, isCurrent: boolean): string {
  return ['row', ...(isCurrent ? ['current'] : []), ...(isOver ? ['over'] : [])].join(' ');
}

const MINUTE_MS = 60_000;

const Content = memo(function Content(props: {
  readonly item: WorklistItem;
  readonly isOver: boolean;
}): ReactNode {
  const { item, isOver } = props;
  const now = useCoarseNow(MINUTE_MS);
  const { title, tool, reason, preview, requesters, conversationId, risk } = item;
  return (
    <>
      <span className="line">
        <b>{title ?? tool}</b>
        {risk === undefined ? undefined : <span className={`risk ${risk}`}>{risk} risk</span>}
        {isOver ? <span>waits no longer</span> : <Deadline {...item} />}
      </span>
      <span className="line cut">{reason ?? preview}</span>
      <span className="line cut hint">
        {requesters.length === 0 ? '' : `${requesters.join(', ')} asked · `}
        {conversationId} · {tool} · since {agoWords(item.openedAt, now)}
      </span>
    </>
  );
});

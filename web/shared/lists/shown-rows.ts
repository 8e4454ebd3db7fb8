/**
 * The rows of a long list that are in the document: those that are seen, and a few more. All rows are equally high:
 * `@tanstack/react-virtual`, which takes rows of any height, is 10 kB of the 120 kB that the inbox may have.
 */
import { type RefObject, useLayoutEffect, useState } from 'react';

/** Rows beyond the edges, so that none is missing while the list scrolls. */
const MORE_ROWS = 6;

/** The first row, and the one after the last. The list scrolls to the row `at` when that changes; -1: to none. */
export function useShownRows(
  scroller: RefObject<HTMLElement | null>,
  list: { readonly count: number; readonly rowPx: number; readonly at: number },
): readonly [number, number] {
  const { count, rowPx, at } = list;
  const [place, setPlace] = useState({ top: 0, height: 0 });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const read = (): void => setPlace({ top: element.scrollTop, height: element.clientHeight });
    read();
    const sizes = new ResizeObserver(read);
    sizes.observe(element);
    element.addEventListener('scroll', read, { passive: true });
    return () => {
      sizes.disconnect();
      element.removeEventListener('scroll', read);
    };
  }, [scroller]);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null || at < 0) return;
    const [start, end] = [at * rowPx, (at + 1) * rowPx];
    if (start < element.scrollTop) element.scrollTop = start;
    else if (end > element.scrollTop + element.clientHeight)
      element.scrollTop = end - element.clientHeight;
  }, [scroller, at, rowPx]);
  const first = Math.max(0, Math.floor(place.top / rowPx) - MORE_ROWS);
  const last = Math.ceil((place.top + place.height) / rowPx) + MORE_ROWS;
  return [Math.min(first, count), Math.min(last, count)];
}

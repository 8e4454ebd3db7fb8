/** Keeps a list at its end while its reader is there, and says when the reader is not. */
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';

/** A reader within so many pixels of the end is at the end. */
const NEAR_PX = 80;

export interface UsedEnd {
  readonly isAtEnd: boolean;
  readonly goToEnd: () => void;
}

/** For a list in `list`: on a narrow screen, where the list does not scroll, the document does. */
export function useEnd(list: RefObject<HTMLElement | null>): UsedEnd {
  // Read in effects: a state would be that of the render before.
  const stays = useRef(true);
  const [isAtEnd, setAtEnd] = useState(true);
  useLayoutEffect(() => {
    if (stays.current) toEnd(list.current);
  });
  useEffect(() => {
    const onScroll = (): void => {
      const scroller = scrollerOf(list.current);
      if (scroller === undefined) return;
      const { scrollHeight, scrollTop, clientHeight } = scroller;
      stays.current = scrollHeight - scrollTop - clientHeight < NEAR_PX;
      setAtEnd(stays.current);
    };
    // The document's own event bubbles to the window; that of an element reaches it only on the way down.
    addEventListener('scroll', onScroll, { capture: true, passive: true });
    return () => removeEventListener('scroll', onScroll, { capture: true });
  }, [list]);
  const goToEnd = (): void => {
    stays.current = true;
    setAtEnd(true);
    toEnd(list.current);
    // The button that was pressed goes.
    list.current?.focus({ preventScroll: true });
  };
  return { isAtEnd, goToEnd };
}

function scrollerOf(list: HTMLElement | null): Element | undefined {
  if (list === null) return undefined;
  return getComputedStyle(list).overflowY === 'visible'
    ? (document.scrollingElement ?? undefined)
    : list;
}

function toEnd(list: HTMLElement | null): void {
  const scroller = scrollerOf(list);
  if (scroller !== undefined) scroller.scrollTop = scroller.scrollHeight;
}

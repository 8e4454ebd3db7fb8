/** The list of conversations, and its filters, which are the address of the page. */
import { type ConversationsView, conversationsOf } from 'colloquy/browser/studio';
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import type { Session } from '../../session/session.js';
import { askedOf, choiceIn, type ListChoice, queryOf } from '../model/choice.js';

export interface UsedList {
  readonly choice: ListChoice;
  readonly choose: (choice: ListChoice) => void;
  readonly view: ConversationsView;
  readonly loadMore: () => void;
}

export function useList(session: Session): UsedList {
  const [choice, setChoice] = useState(read);
  useEffect(() => {
    const again = (): void => setChoice(read());
    addEventListener('popstate', again);
    return () => removeEventListener('popstate', again);
  }, []);
  const key = JSON.stringify(askedOf(choice));
  const list = useMemo(
    () => conversationsOf(session.client, JSON.parse(key) as ReturnType<typeof askedOf>),
    [session, key],
  );
  useEffect(() => {
    list.open();
    return () => list.stop();
  }, [list]);
  const view = useSyncExternalStore(list.subscribe, list.getSnapshot);
  const choose = (chosen: ListChoice): void => {
    const isStep = JSON.stringify(askedOf(chosen)) !== key;
    history[isStep ? 'pushState' : 'replaceState'](null, '', location.pathname + queryOf(chosen));
    setChoice(chosen);
  };
  // A page that cannot be read is asked for again by the button.
  const loadMore = (): void => void list.loadMore().catch(() => undefined);
  return { choice, choose, view, loadMore };
}

function read(): ListChoice {
  return choiceIn(new URLSearchParams(location.search));
}

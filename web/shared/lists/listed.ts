/** A list of conversations that stays current while the component is mounted. */
import {
  type ConversationsChoice,
  type ConversationsView,
  conversationsOf,
} from 'colloquy/browser/studio';
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import type { Session } from '../../session/session.js';

export interface Listed {
  readonly view: ConversationsView;
  readonly loadMore: () => void;
}

export function useListed(session: Session, choice: ConversationsChoice): Listed {
  const key = JSON.stringify(choice);
  const list = useMemo(
    () => conversationsOf(session.client, JSON.parse(key) as ConversationsChoice),
    [session, key],
  );
  useEffect(() => {
    list.open();
    return () => list.stop();
  }, [list]);
  const view = useSyncExternalStore(list.subscribe, list.getSnapshot);
  // A page that cannot be read is asked for again by the button.
  const loadMore = (): void => void list.loadMore().catch(() => undefined);
  return { view, loadMore };
}

/** The list of conversations, and its filters, which are the address of the page. */
import { useEffect, useState } from 'react';
import type { Session } from '../../session/session.js';
import { type Listed, useListed } from '../../shared/lists/listed.js';
import { askedOf, choiceIn, type ListChoice, queryOf } from '../model/choice.js';

export interface UsedList extends Listed {
  readonly choice: ListChoice;
  readonly choose: (choice: ListChoice) => void;
}

export function useList(session: Session): UsedList {
  const [choice, setChoice] = useState(read);
  useEffect(() => {
    const again = (): void => setChoice(read());
    addEventListener('popstate', again);
    return () => removeEventListener('popstate', again);
  }, []);
  const listed = useListed(session, askedOf(choice));
  const choose = (chosen: ListChoice): void => {
    const isStep = JSON.stringify(askedOf(chosen)) !== JSON.stringify(askedOf(choice));
    history[isStep ? 'pushState' : 'replaceState'](null, '', location.pathname + queryOf(chosen));
    setChoice(chosen);
  };
  return { choice, choose, ...listed };
}

function read(): ListChoice {
  return choiceIn(new URLSearchParams(location.search));
}

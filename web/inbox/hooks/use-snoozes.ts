/** The snoozed calls of the person, kept by this browser for each identity and tenant. */
import { useEffect, useState } from 'react';
import type { Session } from '../../session/session.js';
import { type Snoozes, snoozesOf, snoozesText, withSnooze } from '../model/snooze.js';

export interface UsedSnoozes {
  readonly snoozes: Snoozes;
  /** `until`: milliseconds since 1970; undefined shows the call again. Returns the snoozes with it. */
  readonly snooze: (ref: string, until: number | undefined) => Snoozes;
}

export function useSnoozes({ caller, tenant }: Session): UsedSnoozes {
  const key = `colloquy.snoozed ${JSON.stringify([tenant, caller.actor.id])}`;
  const [snoozes, setSnoozes] = useState(() => snoozesOf(localStorage.getItem(key)));
  useEffect(() => {
    // Another tab has changed them.
    const read = (event: StorageEvent): void => {
      if (event.key === key) setSnoozes(snoozesOf(event.newValue));
    };
    addEventListener('storage', read);
    return () => removeEventListener('storage', read);
  }, [key]);
  const snooze: UsedSnoozes['snooze'] = (ref, until) => {
    const next = withSnooze(snoozes, { ref, until }, Date.now());
    localStorage.setItem(key, snoozesText(next));
    setSnoozes(next);
    return next;
  };
  return { snoozes, snooze };
}

/** The rights of the person who is signed in. */
import { useSyncExternalStore } from 'react';
import type { Session } from './session.js';

/** Those of the present token, also after the person has signed in again. */
export function useRights({ subscribe, rights }: Session): readonly string[] {
  return useSyncExternalStore(subscribe, rights);
}

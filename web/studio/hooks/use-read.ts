/** Answers of the API, read while the component is mounted: once for each key, or again and again. */
import { useEffect, useState } from 'react';
import type { Session } from '../../session/session.js';
import { whyOf } from '../../shared/why.js';

export type Read<Value> =
  | { readonly is: 'reading' }
  | { readonly is: 'read'; readonly value: Value }
  | { readonly is: 'refused'; readonly why: string };

export function useRead<Value>(key: string, read: () => Promise<Value>): Read<Value> {
  const [found, setFound] = useState<{ readonly key: string; readonly read: Read<Value> }>();
  useEffect(() => {
    let isLeft = false;
    const show = (answer: Read<Value>): void => {
      if (!isLeft) setFound({ key, read: answer });
    };
    read().then(
      (value) => show({ is: 'read', value }),
      (error: unknown) => show({ is: 'refused', why: whyOf(error) }),
    );
    return () => {
      isLeft = true;
    };
    // `read` is another function at each render.
  }, [key]);
  return found?.key === key ? found.read : { is: 'reading' };
}

const PRESENT_MS = 5_000;

/**
 * The present answer, for a conversation that the page shows: read anew some seconds after each answer, while the page
 * is seen, and at once for another `key`. The last answer stays while the next one is read.
 */
export function usePresent<Value>(
  session: Session,
  read: () => Promise<Value>,
  key: string = '',
): Read<Value> {
  const [found, setFound] = useState<Read<Value>>({ is: 'reading' });
  useEffect(() => {
    let isLeft = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (): Promise<void> => {
      if (!document.hidden) {
        const answer = await read().then(
          (value): Read<Value> => ({ is: 'read', value }),
          (error: unknown): Read<Value> => ({ is: 'refused', why: whyOf(error) }),
        );
        if (isLeft) return;
        setFound(answer);
      }
      timer = setTimeout(() => void look(), PRESENT_MS);
    };
    void look();
    return () => {
      isLeft = true;
      clearTimeout(timer);
    };
    // `read` is another function at each render.
  }, [session, key]);
  return found;
}

/** One answer of the API, read while the component is mounted, and read anew when its key changes. */
import { ApiError } from 'colloquy/browser';
import { useEffect, useState } from 'react';

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

/** The reason in words why the API did not do it. */
export function whyOf(error: unknown): string {
  if (!(error instanceof ApiError)) return String(error);
  const { status, detail } = error.problem;
  return status === 0 ? 'The API does not answer. Try again.' : detail;
}

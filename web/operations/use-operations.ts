/** The state of the installation: read each five seconds while the page is seen. */
import { ApiError, type BrowserClient, type Connection } from 'colloquy/browser';
import { type OperationsAnswer, operationsOf } from 'colloquy/browser/operations';
import { useCallback, useEffect, useRef, useState } from 'react';

export interface UsedOperations {
  /** Absent before the first answer. Kept while the API does not answer. */
  readonly seen: OperationsAnswer | undefined;
  readonly connection: Connection;
  /** Reads at once. */
  readonly refresh: () => void;
}

const POLL_MS = 5_000;

export function useOperations(client: BrowserClient): UsedOperations {
  const [seen, setSeen] = useState<OperationsAnswer>();
  const [connection, setConnection] = useState<Connection>({ state: 'connecting' });
  const [asked, setAsked] = useState(0);
  const reading = useRef<AbortController>(undefined);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = async (): Promise<void> => {
      if (document.hidden || reading.current !== undefined) return;
      clearTimeout(timer);
      const own = new AbortController();
      reading.current = own;
      try {
        const answer = await operationsOf(client, own.signal);
        setSeen(answer);
        setConnection({ state: 'live' });
      } catch (error) {
        if (own.signal.aborted) return;
        setConnection(lost(error));
      } finally {
        if (reading.current === own) reading.current = undefined;
      }
      // Hidden pages begin again when they are seen.
      timer = setTimeout(() => void read(), POLL_MS);
    };
    const onSeen = (): void => void read();
    document.addEventListener('visibilitychange', onSeen);
    void read();
    return () => {
      document.removeEventListener('visibilitychange', onSeen);
      clearTimeout(timer);
      reading.current?.abort();
      reading.current = undefined;
    };
  }, [client, asked]);
  const refresh = useCallback(() => setAsked((count) => count + 1), []);
  return { seen, connection, refresh };
}

function lost(error: unknown): Connection {
  const problem =
    error instanceof ApiError
      ? error.problem
      : { status: 0, code: 'failed', detail: String(error) };
  if (error instanceof ApiError && !error.isPassing) return { state: 'refused', problem };
  return { state: 'waiting', retryAt: Date.now() + POLL_MS, problem };
}

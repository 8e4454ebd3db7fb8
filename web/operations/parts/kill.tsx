/** The kill of a development worker, and what it has changed: nothing. */
import type { BrowserClient } from 'colloquy/browser';
import {
  killWorker,
  type OperationsAnswer,
  type WaitingCalls,
  waitingCalls,
} from 'colloquy/browser/operations';
import { type ReactNode, useEffect, useId, useState } from 'react';
import { whyOf } from '../../shared/why.js';
import { type Comparison, compared, comparedWords } from '../model/words.js';
import { ConversationLink } from './table.js';

type State =
  | { readonly is: 'ready' }
  | { readonly is: 'killing' }
  /** Killed; another worker starts. */
  | {
      readonly is: 'killed';
      readonly pid: number;
      readonly before: WaitingCalls;
      readonly workers: ReadonlySet<string>;
    }
  | { readonly is: 'replaced'; readonly pid: number; readonly comparison: Comparison }
  | { readonly is: 'failed'; readonly reason: string };

export function Kill(props: {
  readonly client: BrowserClient;
  readonly seen: OperationsAnswer;
  readonly onKilled: () => void;
}): ReactNode {
  const { client, seen, onKilled } = props;
  const id = useId();
  const [state, setState] = useState<State>({ is: 'ready' });
  const fail = (error: unknown): void => setState({ is: 'failed', reason: whyOf(error) });
  const kill = async (): Promise<void> => {
    setState({ is: 'killing' });
    try {
      const before = await waitingCalls(client);
      const { killedPid: pid } = await killWorker(client);
      setState({ is: 'killed', pid, before, workers: new Set(upIn(seen)) });
      onKilled();
    } catch (error) {
      fail(error);
    }
  };
  useEffect(() => {
    if (state.is !== 'killed') return;
    const { pid, before, workers } = state;
    if (upIn(seen).every((identity) => workers.has(identity))) return;
    waitingCalls(client).then(
      (after) => setState({ is: 'replaced', pid, comparison: compared(before, after) }),
      (error: unknown) => setState({ is: 'failed', reason: whyOf(error) }),
    );
  }, [client, seen, state]);
  const isBusy = state.is === 'killing' || state.is === 'killed';
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>Kill the worker</h2>
      <p>
        Ends the worker of this development stack at once (SIGKILL), as a crash does; another one is
        started. Nothing is lost: the calls that wait are compared before and after.
      </p>
      <button type="button" className="bad" disabled={isBusy} onClick={() => void kill()}>
        Kill the worker
      </button>
      <div role="status">
        <Outcome state={state} />
      </div>
    </section>
  );
}

function Outcome({ state }: { readonly state: State }): ReactNode {
  switch (state.is) {
    case 'ready':
      return undefined;
    case 'killing':
      return <p>Reads what waits, and kills …</p>;
    case 'killed':
      return (
        <p>
          Killed process {state.pid}. Before: {state.before.calls.size} calls waited. Waits for
          another worker …
        </p>
      );
    case 'failed':
      return <p className="error">{state.reason}</p>;
    case 'replaced':
      return (
        <>
          <p>
            Killed process {state.pid}; another worker is up. {comparedWords(state.comparison)}
          </p>
          {state.comparison.ended.length === 0 ? undefined : (
            <ul>
              {state.comparison.ended.map((conversation) => (
                <li key={conversation}>
                  <ConversationLink id={conversation} />
                </li>
              ))}
            </ul>
          )}
        </>
      );
  }
}

/** Identities of the workers that are up. */
function upIn({ workers }: OperationsAnswer): readonly string[] {
  if (workers.status !== 'known') return [];
  return workers.workers.filter(({ state }) => state === 'up').map(({ identity }) => identity);
}

/** The run of the conversation in Temporal: size of its history, and a link to the Temporal UI. */
import { runOf } from 'colloquy/browser/studio';
import type { ReactNode } from 'react';
import type { Session } from '../../session/session.js';
import { usePresent } from '../hooks/use-read.js';
import { bytesWords } from '../model/words.js';

export function RunLine(props: { readonly session: Session; readonly id: string }): ReactNode {
  const { session, id } = props;
  const read = usePresent(session, async () => await runOf(session.client, id));
  if (read.is === 'reading') return <p className="hint">Reads the run …</p>;
  if (read.is === 'refused') return <p className="hint">Run: {read.why}</p>;
  const { workflowId, status, historyEvents, historyBytes, url } = read.value;
  if (status === 'gone')
    return (
      <p className="hint">Temporal has no run of {workflowId} any more: the log is what is left.</p>
    );
  return (
    <p className="hint">
      Workflow <code>{workflowId}</code>, {status}
      {historyEvents === undefined ? '' : `, history ${historyEvents} events`}
      {historyBytes === undefined ? '' : `, ${bytesWords(historyBytes)}`}.{' '}
      {url === undefined ? undefined : (
        <a href={url} target="_blank" rel="noreferrer">
          Open in the Temporal UI
        </a>
      )}
    </p>
  );
}

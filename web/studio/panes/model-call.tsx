/** The request of the model call at the cursor: its source in words, and its differences to the call before. */
import { type ModelCallRead, modelCallOf, type ShownRequest } from 'colloquy/browser/studio';
import { type ReactNode, useState } from 'react';
import type { Session } from '../../session/session.js';
import type { UsedLog } from '../hooks/use-log.js';
import { useRead } from '../hooks/use-read.js';
import { CopiedJson } from './copy.js';
import { MessageCard } from './panes.js';

export function ModelCallPane(props: {
  readonly session: Session;
  readonly id: string;
  readonly log: UsedLog;
}): ReactNode {
  const { session, id, log } = props;
  const { view, index, goTo } = log;
  const [isOpen, setOpen] = useState(false);
  const { events } = view.replay;
  const call = events.slice(0, index + 1).findLast(({ type }) => type === 'model_call');
  if (call === undefined) return undefined;
  const at = { generation: view.generation, seq: call.seq };
  return (
    <details className="pane" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Model call {call.seq}: the request</summary>
      {isOpen ? <Request key={call.seq} {...{ session, id, at }} onGoTo={goTo} /> : undefined}
    </details>
  );
}

function Request(props: {
  readonly session: Session;
  readonly id: string;
  readonly at: { readonly generation: number; readonly seq: number };
  readonly onGoTo: (seq: number) => void;
}): ReactNode {
  const { session, id, at, onGoTo } = props;
  const read = useRead(
    `${at.generation}-${at.seq}`,
    async () => await modelCallOf(session.client, id, at),
  );
  if (read.is === 'reading') return <p className="hint">Reads the request …</p>;
  if (read.is === 'refused') return <p className="error">{read.why}</p>;
  const { value } = read;
  const { request, unknown, changes, definition } = value;
  return (
    <>
      <p>{sourceWords(value)}</p>
      {unknown.length === 0 ? undefined : (
        <ul aria-label="Not known">
          {unknown.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
      {changes === undefined ? (
        <p className="hint">There is nothing to compare it with.</p>
      ) : (
        <Changes changes={changes} onGoTo={onGoTo} />
      )}
      {definition === undefined ? undefined : (
        <section aria-label="Definition of the agent">
          <p>The definition of the agent, which this call got with changes:</p>
          <Prompt of={definition} />
        </section>
      )}
      {request === undefined ? undefined : (
        <>
          <Prompt of={request} />
          <details>
            <summary>Messages ({request.messages.length})</summary>
            {request.messages.map((message, index) => (
              <MessageCard key={`${index} ${message.id}`} message={message} />
            ))}
          </details>
          <details>
            <summary>As JSON</summary>
            <CopiedJson value={request} label="request" />
          </details>
        </>
      )}
    </>
  );
}

/** System prompt and tools of a request, or of a definition. */
function Prompt({ of }: { readonly of: Pick<ShownRequest, 'system' | 'tools'> }): ReactNode {
  const { system, tools } = of;
  return (
    <>
      {system === undefined ? undefined : (
        <details>
          <summary>System prompt</summary>
          <pre tabIndex={0}>{system}</pre>
        </details>
      )}
      {tools === undefined ? undefined : (
        <details>
          <summary>Tools ({tools.length})</summary>
          <pre tabIndex={0}>{JSON.stringify(tools, undefined, 2)}</pre>
        </details>
      )}
    </>
  );
}

function sourceWords({ source, unknown, reason = '' }: ModelCallRead): string {
  if (source === 'audit') return 'From the audit: the request as the worker sent it.';
  if (source === 'derived')
    return `Derived from the log and the agent's definition, by the rules of the engine. ${
      unknown.length === 0 ? 'Nothing is missing.' : 'Not known:'
    }`;
  return `Not available. ${reason}`;
}

function Changes(props: {
  readonly changes: NonNullable<ModelCallRead['changes']>;
  readonly onGoTo: (seq: number) => void;
}): ReactNode {
  const { since, same, added, removed, changed, tools, settings } = props.changes;
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ['Messages added', added],
    ['Messages removed', removed],
    ['Messages changed', changed.map(({ id }) => id)],
    ['Tools added', tools?.added ?? []],
    ['Tools removed', tools?.removed ?? []],
    ['Tools changed', tools?.changed ?? []],
    ['Settings changed', settings ?? []],
  ];
  return (
    <section aria-label="Differences">
      <p>
        Against the call{' '}
        <button type="button" className="plain" onClick={() => props.onGoTo(since)}>
          {since}
        </button>
        : the first {same} messages are the same.
      </p>
      <dl className="values">
        {rows
          .filter(([, names]) => names.length > 0)
          .map(([name, names]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{names.join(', ')}</dd>
            </div>
          ))}
      </dl>
    </section>
  );
}

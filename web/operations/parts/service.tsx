/** Workers, the sweep and the log. */
import type { OperationsAnswer, SeenWorkers } from 'colloquy/browser/operations';
import { agoWords } from 'colloquy/react';
import type { ReactNode } from 'react';
import {
  buildWords,
  countWords,
  msWords,
  passWords,
  pollsWords,
  WORKER_STATES,
} from '../model/words.js';
import { Command, Part, Table } from './table.js';

export function Workers(props: {
  readonly seen: OperationsAnswer;
  readonly now: number;
}): ReactNode {
  const { seen, now } = props;
  const leader = seen.sweep.status === 'known' ? seen.sweep.leader : undefined;
  return (
    <Part title="Workers" part={seen.workers}>
      {(found) => (
        <>
          <p>
            Task queue <b>{found.taskQueue}</b>:{' '}
            {countWords(found.workers.filter(({ state }) => state === 'up').length, 'worker')} up.
          </p>
          {found.incomplete === undefined ? undefined : (
            <p className="error">Not all is known now: {found.incomplete}</p>
          )}
          {found.nextCommand === undefined ? undefined : (
            <p>
              Start one: <Command text={found.nextCommand} />
            </p>
          )}
          {found.workers.length === 0 ? (
            <p className="empty">The server has seen no worker lately.</p>
          ) : (
            <WorkerTable {...{ found, now, leader }} />
          )}
        </>
      )}
    </Part>
  );
}

function WorkerTable(props: {
  readonly found: SeenWorkers;
  readonly now: number;
  readonly leader: string | undefined;
}): ReactNode {
  const { found, now, leader } = props;
  return (
    <Table
      caption={found.more ? 'Some of the workers' : 'All workers'}
      heads={['Worker', 'State', 'Last poll', 'Polls', 'Build', 'Agents']}
      rows={found.workers.map((worker) => ({
        key: worker.identity,
        cells: [
          <code key="identity">{worker.identity}</code>,
          <span key="state" className={`worker ${worker.state}`}>
            {WORKER_STATES[worker.state]}
            {worker.identity === leader ? ', leads the sweep' : ''}
          </span>,
          worker.lastPollAt === undefined ? '-' : agoWords(worker.lastPollAt, now),
          pollsWords(worker),
          buildWords(worker),
          worker.agents?.join(', ') ?? '-',
        ],
      }))}
    />
  );
}

export function Service(props: {
  readonly seen: OperationsAnswer;
  readonly now: number;
}): ReactNode {
  const { seen, now } = props;
  return (
    <>
      <Part title="Sweep" part={seen.sweep}>
        {({ leader, lastPass, nextCommand }) => (
          <>
            <p>
              {leader === undefined ? 'No worker leads it.' : 'Led by '}
              {leader === undefined ? undefined : <code>{leader}</code>}
            </p>
            {nextCommand === undefined ? undefined : (
              <p>
                Start a worker: <Command text={nextCommand} />
              </p>
            )}
            <p>
              {lastPass === undefined
                ? 'No pass has ended yet.'
                : `Last pass ${agoWords(lastPass.at, now)}, took ${msWords(lastPass.tookMs)}: ${passWords(lastPass)}.`}
            </p>
          </>
        )}
      </Part>
      <Part title="Log" part={seen.log}>
        {({ conversations, typicalMs, worstMs }) => (
          <p>
            {typicalMs === undefined || worstMs === undefined
              ? 'No conversation has changed within two minutes.'
              : `Stored ${msWords(typicalMs)} after the event, at worst ${msWords(worstMs)}: ${countWords(conversations, 'conversation')} of the last two minutes.`}
          </p>
        )}
      </Part>
    </>
  );
}

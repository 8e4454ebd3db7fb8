/** The operations page: workers, sweep, log, what waits and what needs an operator, as they are now. */
import type { ReactNode } from 'react';
import { Boundary } from '../shared/boundary.js';
import { emptyWords, type FaceProps, Top } from '../shared/face.js';
import { useNow } from '../shared/now.js';
import { Kill } from './parts/kill.js';
import { Service, Workers } from './parts/service.js';
import { Troubles, Waits, Webhooks } from './parts/troubles.js';
import { useOperations } from './use-operations.js';

export function Operations(props: FaceProps): ReactNode {
  const { client } = props.session;
  const { seen, connection, refresh } = useOperations(client);
  const now = useNow();
  return (
    <>
      <Top {...props} connection={connection}>
        <button type="button" onClick={refresh}>
          Read again
        </button>
      </Top>
      <main className="operations">
        {seen === undefined ? (
          <p className="empty">
            {emptyWords({ connection, isRead: false }, { reading: 'Reads the state …', none: '' })}
          </p>
        ) : (
          <>
            <Boundary name="The conversations that need attention" of={seen}>
              <Troubles {...{ seen, now }} />
            </Boundary>
            <Boundary name="The workers" of={seen}>
              <Workers {...{ seen, now }} />
            </Boundary>
            <Boundary name="The waiting calls" of={seen}>
              <Waits seen={seen} />
            </Boundary>
            <Boundary name="Sweep and log" of={seen}>
              <Service {...{ seen, now }} />
            </Boundary>
            <Boundary name="The webhooks" of={seen}>
              <Webhooks {...{ seen, now }} />
            </Boundary>
            {seen.killsWorkers ? <Kill {...{ client, seen }} onKilled={refresh} /> : undefined}
          </>
        )}
      </main>
    </>
  );
}

/** The parts of a worker's event log that its tools and plugins use. */
import { DOCUMENTS } from '../../define/plugin/documents.js';
import type { PortValues } from '../../define/tool/ports.js';
import type { OpenLog } from '../../projection/source/open-log.js';
import { inboxOf } from '../../spaces/inbox.js';
import { INBOX } from '../../spaces/plugin/inbox/peek.js';
import { SPACES } from '../../spaces/plugin/port.js';
import { spacesFrom } from '../../spaces/service.js';

/** A port whose part the store does not have has no value. */
export function workerPorts(opened: OpenLog): PortValues {
  const { documents, log } = opened;
  const spaces = spacesFrom(opened);
  return {
    [INBOX.id]: inboxOf(log),
    ...(spaces === undefined ? {} : { [SPACES.id]: spaces }),
    ...(documents === undefined ? {} : { [DOCUMENTS.id]: documents }),
  };
}

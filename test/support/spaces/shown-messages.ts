/** Messages of a space as the API sends them. */
import type { Metadata, SpaceMessage } from '../../../src/protocol/spaces/spaces.js';

const AT = '2030-01-01T00:00:00.000Z';

/** A text, with the position and the change `n` unless `more` says otherwise. */
export function textMessage(n: number, more: Partial<SpaceMessage> = {}): SpaceMessage {
  return {
    ...{ id: `msg_${n}`, position: n, change: n, author: { kind: 'person', id: 'ann' } },
    ...{ kind: 'text', status: 'complete', text: `text ${n}`, createdAt: AT, changedAt: AT },
    ...more,
  };
}

/** A call of an agent. */
export function callMessage(
  n: number,
  metadata: Metadata,
  more: Partial<SpaceMessage> = {},
): SpaceMessage {
  const author = { kind: 'agent', id: 'desk-1~support' } as const;
  return textMessage(n, { kind: 'tool', author, text: '', status: 'running', metadata, ...more });
}

/** Logs with calls that exclude their requesters, for tests of lists. */

import type { Suspension } from '../../../src/protocol/calls/suspensions.js';
import type { EventBody } from '../../../src/protocol/log/events.js';
import { actorFrom } from '../../../src/protocol/values/actors.js';
import type { Audience } from '../../../src/protocol/values/audience.js';
import { minute, waits } from '../samples/list-events.js';
import { answers } from '../samples/log-events.js';

/** A text that Postgres cannot hold. */
export const ODD = 'a\u0000b \ud800 ♥ "quoted" \\u0000';

const NO_REQUESTER: Audience = { exclude: ['requester'] };
export const gated = (turnId: string, more: Partial<Suspension> = {}): EventBody =>
  waits('call-0', { turnId, name: 'pay', deadline: minute(10), audience: NO_REQUESTER, ...more });
export const said = (turnId: string, id: string, onBusy?: 'steer'): EventBody => ({
  type: 'user_message',
  turnId,
  messageId: `${turnId}.${id}`,
  requestId: `request-${turnId}-${id}`,
  actor: actorFrom({ id }),
  parts: [{ type: 'text', text: 'hello' }],
  ...(onBusy === undefined ? {} : { onBusy }),
});
export const begins = (turnId: string, ...inbox: string[]): EventBody => ({
  type: 'turn_started',
  turnId,
  messageId: `${turnId}.0`,
  ...(inbox.length === 0 ? {} : { inbox }),
});
const comesIn = (eventId: string, id: string, more: { requester?: string } = {}): EventBody => ({
  type: 'inbox_event',
  eventId,
  kind: 'payment.settled',
  actor: actorFrom({ id }),
  payload: { eventId: 'e1' },
  ...(more.requester === undefined ? {} : { requester: actorFrom({ id: more.requester }) }),
});
/** Logs that end with an open call `call-0`, and its requester. */
export const ASKED: Readonly<Record<string, readonly [readonly EventBody[], readonly string[]]>> = {
  'by a message': [[said('t', 'ann'), begins('t'), gated('t')], ['ann']],
  'by a message that joined the turn before': [
    [said('t', 'ann'), begins('t'), said('t', 'bo', 'steer'), gated('t')],
    ['ann', 'bo'],
  ],
  'by a message that joined the turn since': [
    [said('t', 'ann'), begins('t'), gated('t'), said('t', 'bo', 'steer')],
    ['ann', 'bo'],
  ],
  'by none that waits for a turn of its own': [
    [said('t', 'ann'), begins('t'), gated('t'), said('t2', 'bo')],
    ['ann'],
  ],
  'in an earlier turn': [
    [
      said('t', 'ann'),
      begins('t'),
      gated('t', { detached: true }),
      ...answers('t'),
      said('t2', 'bo'),
      begins('t2'),
    ],
    ['ann'],
  ],
  'by another system': [
    [comesIn('e1', 'cat'), comesIn('e2', 'bo'), begins('t', 'e1', 'e2'), gated('t')],
    ['cat'],
  ],
  'by another system, and a message that joined': [
    [comesIn('e1', 'cat'), begins('t', 'e1'), said('t', 'bo', 'steer'), gated('t')],
    ['cat', 'bo'],
  ],
  'by the actor who had asked for the result of a call': [
    [comesIn('e1', 'cat', { requester: 'ann' }), begins('t', 'e1'), gated('t')],
    ['ann'],
  ],
  'by an actor with an odd name': [[said('t', ODD), begins('t'), gated('t')], [ODD]],
  'where one of two rules excludes him': [
    [
      said('t', 'ann'),
      begins('t'),
      gated('t', {
        audience: { roles: ['lead'], also: [{ roles: ['ops'], exclude: ['requester'] }] },
      }),
    ],
    ['ann'],
  ],
  'where nothing excludes him': [
    [said('t', 'ann'), begins('t'), gated('t', { audience: { exclude: ['bo'] } })],
    ['ann'],
  ],
};

/** `colloquy pending --for`: the calls that a person may answer, and no others. */
import { expect, it } from 'vitest';
import { forPerson } from '../../../src/cli/conversations/list-command.js';
import type { PendingCall } from '../../../src/protocol/calls/suspensions.js';
import type { ConversationSnapshot } from '../../../src/protocol/conversation/conversation.js';
import type { Audience } from '../../../src/protocol/values/audience.js';
import { stamped, started, turn } from '../../support/samples/log-events.js';

const EVENTS = stamped([started(), ...turn('t1')]);
const asker = EVENTS.flatMap((event) => (event.type === 'user_message' ? [event.actor.id] : []))[0];

const call = (name: string, audience?: Audience): PendingCall =>
  ({ name, turnId: 't1', ...(audience === undefined ? {} : { audience }) }) as PendingCall;
const SNAPSHOT = {
  conversationId: 'c1',
  tenant: 'default',
  pending: [
    call('any'),
    call('leads', { roles: ['lead'] }),
    call('others', { exclude: ['requester'] }),
  ],
} as unknown as ConversationSnapshot;

const client = {
  conversation: () => ({ events: () => Promise.resolve({ events: EVENTS, more: false }) }),
} as never;

it.each([
  [{}, ['any', 'leads', 'others']],
  [{ for: 'ada' }, ['any', 'others']],
  [{ for: 'ada', role: ['lead'] }, ['any', 'leads', 'others']],
  [{ for: asker ?? '' }, ['any']],
])('for %j it has %j', async (flags, names) => {
  const [found] = await forPerson(client, [SNAPSHOT], flags);
  expect(found?.pending.map(({ name }) => name)).toEqual(names);
});

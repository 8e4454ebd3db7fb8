/** `colloquy pending --for`: the calls that a person may answer, and no others. */
import { expect, it } from 'vitest';
import { waitingCalls } from '../../../src/cli/conversations/pending-command.js';
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

let reads = 0;
const client = {
  conversation: () => ({
    events: () => {
      reads += 1;
      return Promise.resolve({ events: EVENTS, more: false });
    },
  }),
} as never;

it.each([
  [undefined, ['any', 'leads', 'others']],
  [{ id: 'ada' }, ['any', 'others']],
  [{ id: 'ada', roles: ['lead'] }, ['any', 'leads', 'others']],
  [{ id: asker ?? '' }, ['any']],
])('for %j it has %j, and reads the log once', async (person, names) => {
  reads = 0;
  const judged = person && { ...person, verified: true };
  const found = await waitingCalls(client, [SNAPSHOT], judged);
  expect(found.map(({ call: { name } }) => name)).toEqual(names);
  expect(found.map(({ requesters }) => requesters)).toEqual(names.map(() => [asker]));
  expect(reads).toBe(1);
});

it('reads no log where no audience excludes who asked', async () => {
  reads = 0;
  const pending = SNAPSHOT.pending.slice(0, 2);
  expect(await waitingCalls(client, [{ ...SNAPSHOT, pending }])).toHaveLength(2);
  expect(reads).toBe(0);
});

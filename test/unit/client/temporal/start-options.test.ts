/** Options that conversations are started with. */
import { expect, it } from 'vitest';
import { ConversationClient } from '../../../../src/client/conversation-client.js';
import { CORE_REVISION } from '../../../../src/protocol/workflow/revisions.js';
import { fakeTemporal } from '../../../support/fakes/fake-temporal.js';
import { promise } from '../../../support/promise.js';
import { SUPPORT } from '../../../support/samples/sample-log.js';

const REPLY = { turnId: 't-1', messageId: 'm_1', seq: 2, ahead: 0 };

/** The settings of a conversation that is started from a worker's published manifest. */
async function begunWith(coreRevision: number): Promise<unknown> {
  const { coreRevision: _, ...others } = SUPPORT.settings;
  const settings = { ...others, coreRevision };
  const { client, calls } = fakeTemporal({ updateWithStart: () => REPLY });
  const agents = [{ ...SUPPORT, settings }];
  await new ConversationClient({ temporal: client, agents })
    .conversation('c-1', { agent: 'support' })
    .send('Hello');
  const [argument] = calls[0]?.options['args'] as [{ settings: unknown }];
  expect(argument.settings).toMatchObject(others);
  return argument.settings;
}

it('a conversation is started under no newer revision than both its client and the worker that published its agent know', {
  ...promise('G204'),
}, async () => {
  expect(await begunWith(CORE_REVISION + 1)).toHaveProperty('coreRevision', CORE_REVISION);
  expect(await begunWith(CORE_REVISION)).toHaveProperty('coreRevision', CORE_REVISION);
  expect(await begunWith(CORE_REVISION - 1)).toHaveProperty('coreRevision', CORE_REVISION - 1);
});

it.each([
  ['is cut between two characters', `${'x'.repeat(78)}😀😀 and more`, `${'x'.repeat(78)}😀…`],
  ['has no direction of its own', 'Pay\u202E \n order', 'Pay order'],
])('the title in Temporal %s', async (_what, text, title) => {
  const { client, calls } = fakeTemporal({ updateWithStart: () => REPLY });
  await new ConversationClient({ temporal: client, agents: [SUPPORT] })
    .conversation('c-1', { agent: 'support' })
    .send(text);
  expect(calls[0]?.options['memo']).toMatchObject({ title });
});

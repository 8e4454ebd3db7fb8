/** `client.watchList`: the changes of a list for applications. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { ConversationClient } from '../../../../src/client/conversation-client.js';
import type { ConversationReader } from '../../../../src/client/ports/reader.js';
import { createStoreReader } from '../../../../src/projection/reading/store-reader.js';
import { openSqliteEventLog } from '../../../support/event-logs.js';
import { FakeReader } from '../../../support/fakes/fake-reader.js';
import { fakeTemporal } from '../../../support/fakes/fake-temporal.js';
import { promise } from '../../../support/promise.js';
import { keyed } from '../../../support/samples/list-events.js';
import { stamped, started, turn } from '../../../support/samples/log-events.js';
import { SUPPORT } from '../../../support/samples/sample-log.js';

function clientOf(reader: ConversationReader): ConversationClient {
  return new ConversationClient({ temporal: fakeTemporal({}).client, agents: [SUPPORT], reader });
}

describe('client.watchList', () => {
  it('yields changes until the loop is left or the signal aborts', promise('G364'), async () => {
    const log = await openSqliteEventLog({ file: ':memory:' });
    onTestFinished(() => log.close());
    const client = clientOf(createStoreReader({ log, source: 'none' }));
    const end = new AbortController();
    const put = async (id: string): Promise<void> => {
      const events = stamped([started(keyed(id)), ...turn('t')]);
      await log.append({ ...keyed(id), runId: 'r', events });
    };
    const seen: string[] = [];
    for await (const frame of await client.watchList({ agent: 'helper', signal: end.signal })) {
      seen.push(frame.type);
      if (frame.type === 'ready') await put('a');
      if (frame.type !== 'conversation') continue;
      expect(frame.conversation).toMatchObject({ conversationId: 'a', status: 'idle' });
      end.abort();
    }
    expect(seen).toEqual(['ready', 'conversation']);
    for await (const { type } of await client.watchList({ tenant: 'acme' })) {
      expect(type).toBe('ready');
      break;
    }
  });

  it('refuses options by their name, and a reader without a store', async () => {
    const client = clientOf(new FakeReader());
    for (const [options, path] of [
      [{ status: 'lost' as 'idle' }, '/status'],
      [{ tenant: 'a b' }, '/tenant'],
      [{ root: 'a b' }, '/root'],
      [{ after: '1-42' }, '/after'],
    ] as const)
      await expect(client.watchList(options)).rejects.toMatchObject({
        ...{ code: 'invalid_request', problems: [{ path }] },
      });
    await expect(client.watchList()).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});

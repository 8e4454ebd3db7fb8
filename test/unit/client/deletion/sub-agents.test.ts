/** Sub-agents are deleted with their callers, also by a deletion that is killed half-way. */
import { WorkflowNotFoundError } from '@temporalio/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ConversationClient } from '../../../../src/client/conversation-client.js';
import { createDeletions } from '../../../../src/projection/duties/deletions.js';
import { createHousekeeping } from '../../../../src/projection/duties/housekeeping.js';
import { createStoreReader } from '../../../../src/projection/reading/store-reader.js';
import type { EventBody } from '../../../../src/protocol/log/events.js';
import { openSqliteEventLog } from '../../../support/event-logs.js';
import { type FakeCall, fakeTemporal } from '../../../support/fakes/fake-temporal.js';
import { promise } from '../../../support/promise.js';
import { keyed } from '../../../support/samples/list-events.js';
import { closes, stamped, started } from '../../../support/samples/log-events.js';
import { SUPPORT } from '../../../support/samples/sample-log.js';

const ALL = ['beside', 'leaf', 'mid', 'top'];

/** `top` has started `mid` and `beside`, and `mid` has started `leaf`. Temporal has `running` as the run of `top`. */
async function aFamily({ running }: { readonly running?: string } = {}) {
  const log = await openSqliteEventLog({ file: ':memory:' });
  onTestFinished(() => log.close());
  const add = async (id: string, above: readonly string[], last: readonly EventBody[] = []) => {
    const path = above.map((conversationId) => ({
      ...{ conversationId, toolCallId: `call-${conversationId}`, name: 'ask' },
    }));
    const parent = above.length === 0 ? {} : { parent: { root: above[0], path } };
    const begins = { ...started(keyed(id)), ...parent } as EventBody;
    await log.append({ ...keyed(id), runId: `run-${id}`, events: stamped([begins, ...last]) });
  };
  await add('top', [], [closes()]);
  await add('mid', ['top']);
  await add('leaf', ['top', 'mid']);
  await add('beside', ['top']);
  const { client: temporal } = fakeTemporal({
    describe: ({ workflowId }: FakeCall) => {
      if (running !== undefined && workflowId.endsWith(':top'))
        return { runId: running, status: { name: 'RUNNING' }, raw: {} };
      throw new WorkflowNotFoundError('not found', workflowId, undefined);
    },
  });
  const deletions = createDeletions({ log });
  let tombstones = Number.POSITIVE_INFINITY;
  const ends: { when?: () => Promise<void> } = {};
  const client = new ConversationClient({
    ...{ temporal, agents: [SUPPORT], reader: createStoreReader({ log, source: 'none' }) },
    deletions: {
      ...deletions,
      begin: async (request) => {
        tombstones -= 1;
        if (tombstones < 0) throw new Error('killed');
        return await deletions.begin(request);
      },
      extend: async (request) => {
        await ends.when?.();
        await deletions.extend(request);
      },
    },
  });
  const live = { publish: () => undefined } as never;
  /** By default before any conversation has been closed. */
  const duties = (now = 0) =>
    createHousekeeping({
      ...{ client: temporal, opened: { log, live }, taskQueue: 'q', resumeAfterMs: 0 },
      ...{ now: () => now, closedAfterMs: 1_000 },
    });
  return {
    ...{ log, client, duties, ends, add },
    killAfter: (count: number) => {
      tombstones = count;
    },
    stored: async () =>
      (await log.list()).conversations.map(({ conversationId }) => conversationId).sort(),
  };
}

describe('a deletion that is killed among its sub-agents', promise('G253'), () => {
  it('has left nothing of the caller to read, and is finished by a repeat', async () => {
    const { client, stored, killAfter } = await aFamily();
    killAfter(2);
    await expect(client.deleteConversation('top')).rejects.toThrow();
    await expect(client.conversation('top').snapshot()).rejects.toMatchObject({
      code: 'unknown_conversation',
    });
    expect(await stored()).toHaveLength(2);
    killAfter(9);
    await client.deleteConversation('top');
    expect(await stored()).toEqual([]);
  });

  it('has left nothing of them to read before any run was ended', async () => {
    const { client, stored, ends } = await aFamily();
    ends.when = () => Promise.reject(new Error('killed'));
    await expect(client.deleteConversation('top')).rejects.toThrow();
    expect(await stored()).toEqual([]);
  });

  it('is finished by the workers', async () => {
    const { client, stored, killAfter, duties } = await aFamily();
    killAfter(2);
    await expect(client.deleteConversation('top')).rejects.toThrow();
    expect(await duties().pass()).toMatchObject({ resumed: 2, failed: 0 });
    expect(await stored()).toEqual([]);
  });

  it('leaves the sub-agents of a conversation that has begun under the id since', async () => {
    const { log, stored, duties } = await aFamily();
    await log.beginDeletion({ ...keyed('top'), runIds: [], withSubAgents: true });
    const again = stamped([started(keyed('top'), 'chain1')]);
    await log.append({ ...keyed('top'), runId: 'again', events: again });
    expect(await duties().pass()).toMatchObject({ resumed: 1, failed: 0 });
    expect(await stored()).toEqual(ALL);
  });

  it('leaves them also where the store does not have that conversation yet', async () => {
    const { log, stored, duties } = await aFamily({ running: 'again' });
    await log.beginDeletion({ ...keyed('top'), runIds: [], withSubAgents: true });
    expect(await duties().pass()).toMatchObject({ resumed: 1, failed: 0 });
    expect(await stored()).toEqual(ALL.filter((id) => id !== 'top'));
  });
});

it(
  'deleting the conversation of a sub-agent deletes those that it started, and no others',
  promise('G312'),
  async () => {
    const { client, stored } = await aFamily();
    await client.deleteConversation('mid');
    expect(await stored()).toEqual(['beside', 'top']);
  },
);

it(
  'deleting a conversation deletes a sub-agent that it started until its run had ended',
  promise('G312'),
  async () => {
    const { client, stored, ends, add } = await aFamily();
    ends.when = async () => {
      delete ends.when;
      await add('late', ['top']);
    };
    await client.deleteConversation('top');
    expect(await stored()).toEqual([]);
  },
);

it(
  'a caller that is deleted by its age leaves sub-agents that are at work',
  promise('G255'),
  async () => {
    const { stored, duties } = await aFamily();
    const years = Date.parse('2031-01-01T00:00:00.000Z');
    expect(await duties(years).pass()).toMatchObject({ expired: 1, failed: 0 });
    expect(await duties(years).pass()).toMatchObject({ resumed: 1, failed: 0 });
    expect(await stored()).toEqual(ALL.filter((id) => id !== 'top'));
  },
);

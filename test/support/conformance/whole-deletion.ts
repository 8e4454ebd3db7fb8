/** Checks in every adapter that a deletion leaves no row of its conversation in any table of a store. */
import { expect } from 'vitest';
import { createDeletions } from '../../../src/projection/duties/deletions.js';
import type { EventBody } from '../../../src/protocol/log/events.js';
import type { BlobStore } from '../../../src/store/ports/blobs.js';
import type { EventLog } from '../../../src/store/ports/log.js';
import type { SpaceStore } from '../../../src/store/ports/spaces/spaces.js';
import type { WebhookStore } from '../../../src/store/ports/webhooks.js';
import { asks, KEY, stamped, started, suspends, turn } from '../samples/log-events.js';
import { putEndpoint } from '../webhooks/samples.js';

export interface OpenTables {
  readonly log: EventLog;
  readonly blobs: BlobStore;
  readonly webhooks: WebhookStore;
  readonly spaces: SpaceStore;
  /** Rows of a conversation by table, for each table that has a column `conversation_id`. */
  rowsOf(conversationId: string): Promise<Readonly<Record<string, number>>>;
}

const OTHER = { ...KEY, conversationId: 'other' };
const CLAIMED: EventBody = {
  type: 'claimed',
  turnId: 't2',
  toolCallId: 'call-1',
  claimId: 'claim-1',
  leaseMs: 3_600_000,
  requestId: 'r1',
  actor: { id: 'ann', verified: true, channel: 'api' },
};
const FIRST = stamped([started(), ...turn('t1')]);
/** Another log of the same conversation, with a pending call that a client has claimed. */
const SECOND = stamped([started(), ...asks('t2'), suspends('t2', 'call-1'), CLAIMED], { clock: 9 });

export async function expectNoRowLeft(tables: OpenTables): Promise<void> {
  const { log, blobs, webhooks, spaces, rowsOf } = tables;
  await putEndpoint(webhooks);
  for (const key of [KEY, OTHER]) {
    await log.append({ ...key, runId: 'run-a', events: FIRST });
    expect(await log.append({ ...key, runId: 'run-b', events: SECOND })).toMatchObject({
      outcome: 'rewritten',
    });
    const since = '2030-01-01T00:00:00.000Z';
    await log.markTrouble(key, { kind: 'slow', runId: 'run-b', attempts: 4, since });
    const space = { tenant: key.tenant, spaceId: 'room' };
    const creator = { kind: 'agent', id: `${key.conversationId}~support` } as const;
    const made = { ...space, name: 'Room', access: 'invited', creator, nowMs: 1 } as const;
    await spaces.create(made);
    await spaces.join({ ...space, member: creator, nowMs: 1 });
    await blobs.put(key, { type: 'text/plain', content: Buffer.from('a large result') });
  }
  const { deletions: none, ...before } = await rowsOf(KEY.conversationId);
  expect(none).toBe(0);
  // Every table is checked: a new table needs rows above.
  for (const [table, rows] of Object.entries(before))
    expect([table, rows > 0]).toEqual([table, true]);
  const others = await rowsOf(OTHER.conversationId);

  const port = createDeletions({ log, blobs });
  const runIds = (await port.begin({ ...KEY, runIds: [] })) ?? [];
  await port.finish({ ...KEY, runIds });
  const gone = Object.fromEntries(Object.keys(before).map((table) => [table, 0]));
  expect(await rowsOf(KEY.conversationId)).toEqual({ ...gone, deletions: 1 });
  expect(await rowsOf(OTHER.conversationId)).toEqual(others);
}

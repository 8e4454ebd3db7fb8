/** Everything that a tenant may have in the stores and on the server, each with a canary in it. */
import { ScheduleNotFoundError } from '@temporalio/client';
import type { AppDeps } from '../../../src/http/request/deps.js';
import { conversationKey } from '../../../src/protocol/values/ids.js';
import type { OpenStores } from '../../../src/store/sqlite/event-log.js';
import { asks, stamped, started, suspends } from '../samples/log-events.js';
import { CALL, sampleLog, TURN } from '../samples/sample-log.js';

export const CANARY = 'canary-of-acme';
/** The only role that may answer the calls of the tenant. */
export const ROLE = 'lead';
export const TENANT = 'default';
export const RUN = 'run-1';
const KEY = { tenant: TENANT, conversationId: 'c-1' };
const BOB = { kind: 'person', id: 'bob', name: CANARY } as const;
const TRIGGER = {
  ...KEY,
  ...{ triggerId: 'x-1', firstRunId: RUN, title: CANARY, goal: CANARY, note: 'n' },
  schedule: { type: 'interval', value: '1 hour' },
  ...{ madeBy: 'client', createdAt: '2026-01-01T00:00:00.000Z' },
  createdBy: { id: CANARY, verified: true, channel: 'client' },
};

/** `c-1` with a question that waits, `c-3` with a call for external workers, a space, a webhook, a value. */
export async function plant({ log, blobs, webhooks, spaces }: OpenStores) {
  const text = JSON.stringify(sampleLog('c-1').slice(0, 5)).replaceAll('Hello', CANARY);
  const asked = (JSON.parse(text) as ReturnType<typeof sampleLog>).map((event) =>
    event.type === 'suspension'
      ? { ...event, suspension: { ...event.suspension, prompt: CANARY, audience: AUDIENCE } }
      : event,
  );
  const endpoint = {
    ...{ id: 'wh_1', tenant: TENANT, url: `https://example.com/${CANARY}`, description: CANARY },
    ...{ createdAt: '2026-01-01T00:00:00.000Z' },
    status: 'active',
  } as const;
  await webhooks.putEndpoint(endpoint, { secret: `whsec_${CANARY}`, previousUntilMs: 0 });
  await log.append({ ...KEY, runId: RUN, events: asked });
  const other = { tenant: TENANT, conversationId: 'c-3' };
  const external = { name: 'render', executor: 'external', kind: 'external_execution' } as const;
  const call = suspends('t', 'call-3', { ...external, prompt: CANARY, audience: AUDIENCE });
  const events = stamped([started(other), ...asks('t', CANARY), call]);
  await log.append({ ...other, runId: 'run-3', events });
  const content = Buffer.from(JSON.stringify(CANARY));
  const blob = await blobs.put(KEY, { type: 'application/json', content });
  const space = { tenant: TENANT, spaceId: 'x-1' };
  await spaces.create({ ...space, name: CANARY, access: 'open', creator: BOB, nowMs: 1 });
  await spaces.join({ ...space, member: { kind: 'person', id: 'ann' }, nowMs: 2 });
  const said = { ...space, id: 'm-1', kind: 'text', status: 'complete', text: CANARY } as const;
  await spaces.putMessage({ ...said, author: BOB, nowMs: 3 });
  await webhooks.enqueue('wh_1', ENVELOPE);
  const ids: Readonly<Record<string, string>> = {
    ...{ id: 'c-1', turnId: TURN, callId: CALL, blobId: blob.id, stepId: `${TURN}.1` },
    ...{ webhookId: 'wh_1', deliveryId: ENVELOPE.id, kind: 'person', memberId: 'ann', seq: '5' },
  };
  const kept = async (): Promise<string> =>
    JSON.stringify([
      await Promise.all([KEY, other].map((key) => log.read(key))),
      await webhooks.endpoints({ tenant: TENANT }),
      await webhooks.endpoint('wh_1'),
      await webhooks.deliveries({ endpointId: 'wh_1', limit: 10 }),
      await spaces.space(space),
      await spaces.list({ tenant: TENANT, limit: 10 }),
      await spaces.isMember(space, BOB),
      conversationKey(KEY),
    ]);
  return { ids, kept };
}

const AUDIENCE = { roles: [ROLE] };

const ENVELOPE = {
  specversion: '1.0',
  id: 'evt_1',
  source: '/colloquy',
  type: 'conversation.turn.ended',
  time: '2026-01-01T00:00:00.000Z',
  data: { text: CANARY },
} as never as Parameters<OpenStores['webhooks']['enqueue']>[1];

/** The schedules of the server: the trigger `x-1` of `c-1`, and those that a test creates. */
export function schedulesOf() {
  const stored = new Map<string, { args: readonly unknown[] }>([
    [`trigger:${TENANT}:c-1:x-1`, { args: [TRIGGER] }],
  ]);
  const done = () => Promise.resolve();
  return {
    list: () => [...stored.keys()].map((scheduleId) => ({ scheduleId })),
    create: ({ scheduleId, action }: { scheduleId: string; action: { args: unknown[] } }) => {
      stored.set(scheduleId, action);
      return done();
    },
    getHandle: (id: string) => ({
      describe: () => {
        const action = stored.get(id);
        if (action === undefined) throw new ScheduleNotFoundError('none', id);
        return Promise.resolve({
          ...{ action, state: { paused: false } },
          info: {
            ...{ nextActionTimes: [new Date()], numActionsTaken: 0 },
            ...{ runningActions: [], recentActions: [] },
          },
        });
      },
      ...{ pause: done, unpause: done },
      delete: () => {
        stored.delete(id);
        return done();
      },
    }),
  };
}

/** The view of operators, with the canary for the tenant alone. */
export function operationsOf(): NonNullable<AppDeps['operations']> {
  return {
    look: (tenant) => {
      const reason = tenant === TENANT ? CANARY : 'nothing';
      const part = { status: 'unavailable', reason } as const;
      return Promise.resolve({
        ...{ at: '2026-01-01T00:00:00.000Z', tenant, workers: part, sweep: part, log: part },
        ...{ webhooks: part, waits: part, troubles: part },
      });
    },
  };
}

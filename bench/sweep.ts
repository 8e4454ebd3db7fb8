/**
 * `node dist/bench/sweep.js [count]` (after `npm run build`): the cost of the sweep while conversations are parked. The
 * store has a log of each, in sqlite and then in Postgres. The dev server has only the runs that the passes check,
 * without a worker, like parked ones; starting all of them would take minutes. Listing runs is measured with these,
 * comparing the list with the store with all. Each pass counts calls of the store (one statement each), calls to
 * Temporal by method, time, and CPU of the sweeping process.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { type EventLogChoice, openEventLog } from 'colloquy/log';
import { Projector } from '#dist/projection/projector/projector.js';
import { Sweep } from '#dist/projection/projector/sweep.js';
import {
  createWorkflowSource,
  type WorkflowSource,
} from '#dist/projection/source/workflow-source.js';
import { SWEEP_CHECKS } from '#dist/protocol/limits/service-limits.js';
import type { CanonicalEvent } from '#dist/protocol/log/events.js';
import { CORE_REVISION } from '#dist/protocol/workflow/revisions.js';
import type { EventLog } from '#dist/store/ports/log.js';
import { startPostgres } from '../examples/demo/postgres.js';
import { startDevServer } from '../test/support/servers/dev-server.js';
import { median } from './shared/stats.js';

const COUNT = Number(process.argv[2] ?? 10_000);
/** The first pass also lists the running workflows, as does every tenth after it. */
const PASSES = 5;
/** More runs than this number of passes checks. */
const RUNS = Math.min(COUNT, PASSES * SWEEP_CHECKS);
const AT_ONCE = 32;
const TENANT = 'default';

interface Parked {
  readonly conversationId: string;
  readonly runId: string;
}

interface Pass {
  readonly ms: number;
  readonly cpuMs: number;
  readonly checked: number;
  readonly asked: number;
  readonly store: number;
  readonly temporal: Readonly<Record<string, number>>;
}

async function atOnce<Item>(
  items: readonly Item[],
  work: (item: Item, nth: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let nth = next++; nth < items.length; nth = next++) await work(items[nth] as Item, nth);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

/** Starts runs that have no worker, so that only the sweep touches them. */
async function park(client: Client): Promise<readonly Parked[]> {
  const parked: Parked[] = Array.from({ length: COUNT }, (_, nth) => ({
    conversationId: `parked-${String(nth).padStart(6, '0')}`,
    runId: 'unchecked',
  }));
  await atOnce(parked.slice(0, RUNS), async ({ conversationId }, nth) => {
    const handle = await client.workflow.start('conversation', {
      workflowId: `conversation:${TENANT}:${conversationId}`,
      taskQueue: 'no-worker',
      args: [],
    });
    parked[nth] = { conversationId, runId: handle.firstExecutionRunId };
  });
  return parked;
}

function eventsOf(conversationId: string): readonly CanonicalEvent[] {
  const at = '2030-01-01T00:00:00.000Z';
  const actor = { id: 'ann', verified: true, channel: 'client' } as const;
  const [turnId, messageId, toolCallId] = ['t1', 't1.user', 'call_1'];
  const settings = {
    maxSteps: 25,
    onBusy: 'queue',
    idleCloseMs: 1_000_000,
    coreRevision: CORE_REVISION,
  } as const;
  const key = { tenant: TENANT, conversationId };
  const turn = `${conversationId}.${turnId}`;
  const message = { turnId: turn, messageId, requestId: 'r1', actor };
  return [
    { type: 'conversation_started', seq: 1, at, ...key, agent: 'bench', chain: 'c', settings },
    { type: 'user_message', seq: 2, at, ...message, parts: [{ type: 'text', text: 'refund' }] },
    { type: 'turn_started', seq: 3, at, turnId: turn, messageId },
    {
      type: 'suspension',
      seq: 4,
      at,
      suspension: {
        toolCallId,
        turnId: turn,
        name: 'payments.refund',
        executor: 'server',
        kind: 'approval',
        prompt: { cents: 7_500 },
        openedAt: at,
        deadline: '2030-02-01T00:00:00.000Z',
      },
    },
  ];
}

async function fill(log: EventLog, parked: readonly Parked[]): Promise<void> {
  await atOnce(parked, async ({ conversationId, runId }) => {
    const events = eventsOf(conversationId);
    // The history length of a run without a completed task.
    await log.append({ tenant: TENANT, conversationId, runId, historyLength: 2, events });
  });
}

/** Reports each call of a method. */
function watched<Target extends object>(target: Target, onCall: (method: string) => void): Target {
  return new Proxy(target, {
    get(of, name) {
      const value: unknown = Reflect.get(of, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        onCall(String(name));
        return Reflect.apply(value, of, args);
      };
    },
  });
}

async function measure(
  choice: EventLogChoice,
  parked: readonly Parked[],
  temporal: { readonly client: Client; readonly calls: Map<string, number> },
): Promise<readonly Pass[]> {
  const opened = await openEventLog(choice);
  const startedAt = performance.now();
  await fill(opened.log, parked);
  console.error(`stored after ${Math.round((performance.now() - startedAt) / 1_000)} s`);
  let store = 0;
  const log = watched(opened.log, () => {
    store += 1;
  });
  const server = createWorkflowSource(temporal.client);
  const source: WorkflowSource = {
    ...server,
    running: async function* () {
      if (server.running !== undefined) yield* server.running();
      for (const { conversationId } of parked.slice(RUNS)) yield { tenant: TENANT, conversationId };
    },
  };
  const sweep = new Sweep({ log, source, projector: new Projector({ ...opened, log, source }) });
  const passes: Pass[] = [];
  for (let nth = 0; nth < PASSES; nth += 1) {
    store = 0;
    temporal.calls.clear();
    const from = { cpu: process.cpuUsage(), at: performance.now() };
    const report = await sweep.pass();
    const { user, system } = process.cpuUsage(from.cpu);
    passes.push({
      ms: performance.now() - from.at,
      cpuMs: (user + system) / 1_000,
      checked: report?.checked ?? 0,
      asked: (report?.asked ?? 0) + (report?.found ?? 0) + (report?.failed ?? 0),
      store,
      temporal: Object.fromEntries(temporal.calls),
    });
  }
  await sweep.stop();
  await opened.close();
  return passes;
}

function row(name: string, passes: readonly Pass[]): string {
  const of = (value: (pass: Pass) => number): number => Math.round(median(passes.map(value)));
  const methods = Object.entries(passes[0]?.temporal ?? {}).map(
    ([method, count]) => `${count} ${method}`,
  );
  return `| ${name} | ${of(({ checked }) => checked)} | ${of(({ store }) => store)} | ${methods.join(', ')} | ${of(({ ms }) => ms)} | ${of(({ cpuMs }) => cpuMs)} |`;
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'colloquy-sweep-'));
  // A Postgres started by root runs as another user.
  chmodSync(folder, 0o755);
  const server = await startDevServer({ dbFile: join(folder, 'temporal.db') });
  const calls = new Map<string, number>();
  const connection = await Connection.connect({ address: server.address });
  const service = watched(connection.workflowService, (method) => {
    calls.set(method, (calls.get(method) ?? 0) + 1);
  });
  const client = new Client({
    connection: new Proxy(connection, {
      get: (of, name) =>
        name === 'workflowService' ? service : (Reflect.get(of, name) as unknown),
    }),
  });
  const postgres = await startPostgres({ folder: join(folder, 'postgres') });
  try {
    const startedAt = performance.now();
    const parked = await park(client);
    console.error(`parked after ${Math.round((performance.now() - startedAt) / 1_000)} s`);
    console.log('| store, pass | checks | store calls | calls to Temporal | ms | CPU ms |');
    console.log('|---|---|---|---|---|---|');
    for (const [name, choice] of [
      ['sqlite', join(folder, 'log.db')],
      ['Postgres', { url: postgres.url }],
    ] as const) {
      const passes = await measure(choice, parked, { client, calls });
      const lists = (pass: Pass): boolean => 'listWorkflowExecutions' in pass.temporal;
      console.log(
        row(
          `${name}, each`,
          passes.filter((pass) => !lists(pass)),
        ),
      );
      console.log(row(`${name}, that lists`, passes.filter(lists)));
      const moved = passes.reduce((sum, { asked }) => sum + asked, 0);
      if (moved > 0) throw new Error(`${moved} parked conversations were changed`);
    }
    const load = loadavg().map((value) => value.toFixed(1));
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    console.log(
      `${COUNT} parked, ${RUNS} runs, ${seconds} s in all, load average ${load.join(', ')}`,
    );
  } finally {
    await connection.close();
    await postgres.stop();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();

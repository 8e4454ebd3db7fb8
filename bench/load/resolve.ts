/**
 * Resolution latency: from the request to its verdict, for calls that wait in parallel in one step. Everything is set
 * up before the measurement, equally on both sides: the same number of conversations and of open waits with their
 * timers.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { ConversationClient } from 'colloquy/client';
import { RESOLVE, type WaitsInput } from '../floor/workflows.js';
import {
  FLOOR_QUEUE,
  FLOOR_TIMEOUTS,
  type ResolutionRequest,
  type ResolutionResult,
  USER_TEXT,
} from '../shared/cells.js';
import { spreadOf } from '../shared/spread.js';
import { cpuBetween, readCpu } from './cpu.js';
import type { HttpResolver } from './http-client.js';

/** Resolves the next wait of one conversation. @throws unless the verdict is `accepted` */
type Resolve = () => Promise<void>;

interface Waiting {
  readonly resolve: Resolve;
  end(): Promise<void>;
}

export interface ResolutionParts {
  readonly temporal: Client;
  readonly client: ConversationClient;
  readonly http: HttpResolver;
  readonly pids: Readonly<Record<string, number>>;
}

/** Each conversation keeps one wait open, because the end of its step would be another measurement. */
const KEPT_OPEN = 1;
const QUIET_MS = 500;

const RESOLUTIONS = {
  answer: { type: 'answer', value: { answer: 'yes' } },
  approve: { type: 'approve' },
} as const;

/** One measurement: `lanes` parallel conversations, each resolving one wait after the other. */
export async function measureResolutions(
  request: ResolutionRequest,
  parts: ResolutionParts,
): Promise<ResolutionResult> {
  const latencies: number[] = [];
  const foreign: number[] = [];
  while (latencies.length < request.samples) {
    const waiting = await Promise.all(
      Array.from({ length: request.lanes }, () => begin(request, parts)),
    );
    // Waits for the rest of the set-up: readers of the log, and the timers of the last call.
    await sleep(QUIET_MS);
    const from = readCpu(parts.pids);
    await Promise.all(
      waiting.map(async ({ resolve }) => {
        for (let count = KEPT_OPEN; count < request.waits; count += 1) {
          const startedAt = performance.now();
          await resolve();
          latencies.push(performance.now() - startedAt);
        }
      }),
    );
    foreign.push(cpuBetween(from, readCpu(parts.pids)).foreign);
    // Waits for the last approved calls to run.
    await sleep(QUIET_MS);
    for (const conversation of waiting) await conversation.end();
  }
  return {
    samples: latencies.length,
    latency: spreadOf(latencies),
    foreignCpu: Math.max(...foreign),
  };
}

/** Starts conversations that wait for an answer that never comes. Returns their number. */
export async function park(count: number, { client }: ResolutionParts): Promise<number> {
  let left = count;
  const lane = async (): Promise<void> => {
    for (; left > 0; ) {
      left -= 1;
      const conversation = client.conversation(`parked-${randomUUID()}`, { agent: 'bench-parked' });
      const result = await (await admitted(conversation.send(USER_TEXT))).result();
      if (result.status !== 'waiting') throw new Error(`is not parked: ${JSON.stringify(result)}`);
    }
  };
  await Promise.all(Array.from({ length: 16 }, lane));
  return count;
}

async function begin(request: ResolutionRequest, parts: ResolutionParts): Promise<Waiting> {
  return request.path === 'client' || request.path === 'http'
    ? await beginEngine(request, parts)
    : await beginFloor(request, parts);
}

async function beginEngine(
  { kind, waits, path }: ResolutionRequest,
  { client, http }: ResolutionParts,
): Promise<Waiting> {
  const conversationId = `bench-${kind}-${randomUUID()}`;
  const conversation = client.conversation(conversationId, { agent: `bench-${kind}` });
  const turn = await admitted(conversation.send(`${waits} calls`));
  const result = await turn.result();
  if (result.status !== 'waiting' || result.pending.length !== waits)
    throw new Error(`the calls do not wait: ${JSON.stringify(result).slice(0, 500)}`);
  const open = result.pending.map(({ toolCallId }) => toolCallId);
  const resolution = RESOLUTIONS[kind];
  return {
    resolve: async () => {
      const toolCallId = open.shift() ?? '';
      const verdict =
        path === 'http'
          ? await http.resolve(conversationId, toolCallId, resolution)
          : (await conversation.resolve(toolCallId, resolution)).verdict;
      if (verdict !== 'accepted') throw new Error(`the verdict is ${verdict}`);
    },
    end: async () => {
      await conversation.close();
    },
  };
}

async function beginFloor(
  { kind, waits, path }: ResolutionRequest,
  { temporal, http }: ResolutionParts,
): Promise<Waiting> {
  const input: WaitsInput = { waits, runs: kind === 'approve' };
  const handle = await temporal.workflow.start('waits', {
    workflowId: `floor-${kind}-${randomUUID()}`,
    taskQueue: FLOOR_QUEUE,
    workflowTaskTimeout: FLOOR_TIMEOUTS.workflowTask,
    args: [input],
  });
  // The first task, in which the timers start, answers this query.
  await handle.query('open');
  let next = 0;
  return {
    resolve: async () => {
      const id = next;
      next += 1;
      const verdict =
        path === 'floor'
          ? await handle.executeUpdate<string, [{ id: number }]>(RESOLVE, { args: [{ id }] })
          : await http.resolveBare({ workflowId: handle.workflowId, id });
      if (verdict !== 'accepted') throw new Error(`the verdict is ${verdict}`);
    },
    end: async () => {
      await handle.terminate('end of the measurement');
    },
  };
}

async function admitted(
  sending: ReturnType<ReturnType<ConversationClient['conversation']>['send']>,
): Promise<Extract<Awaited<typeof sending>, { status: 'admitted' }>> {
  const sent = await sending;
  if (sent.status !== 'admitted') throw new Error('the message was not admitted');
  return sent;
}

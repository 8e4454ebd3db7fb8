/**
 * A storm: conversations of all kinds of agents are driven through every way in while their workers and the API are
 * killed and frozen, runs roll over and leave memory, and outsiders query them all the time. In the end everything
 * comes to rest, and the storm compares log, replies, effects, model and histories with each other.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ConversationClient } from 'colloquy/client';
import { createStoreReader, openEventLog } from 'colloquy/log';
import { juggle } from '../e2e/support/random/juggler-model.js';
import { startWorld, type World } from '../e2e/support/world.js';
import { OutsideQueries } from '../support/histories/outside-queries.js';
import { startBusyLoops } from './busy-loops.js';
import { StormConversations } from './conversations.js';
import { faultsOf, nameOf } from './faults.js';
import { StormProcesses } from './processes.js';
import { foundIn, noFindings, type StormReport } from './report.js';
import { checkRuns } from './runs.js';

const AGENTS = fileURLToPath(new URL('../e2e/fixtures/juggler.ts', import.meta.url));
const PROGRESS_MS = 10_000;
const NONDETERMINISM = /TMPRL1100|ondeterminism/;

export interface StormOptions {
  /** Repeats faults in their order, and inputs as far as the conversations take the same course. */
  readonly seed: number;
  /** How long faults and inputs go on; open work is brought to rest after it. */
  readonly minutes: number;
  /** Number of busy loops beside the storm. */
  readonly load: number;
  /** Conversations at once. */
  readonly lanes: number;
  /** A folder to which histories are written that cannot be replayed. */
  readonly keep?: string | undefined;
  readonly onProgress?: (line: string) => void;
}

/** @throws when the storm cannot be made at all; the report has its findings. */
export async function runStorm(options: StormOptions): Promise<StormReport> {
  const findings = noFindings();
  const onLine = (line: string, from: string): void => {
    if (NONDETERMINISM.test(line)) findings.unreplayable.push(`${from} said: ${line}`);
  };
  const world = await startWorld({
    agents: AGENTS,
    script: juggle,
    ui: true,
    onLine,
    // So that runs roll over by themselves, too.
    dynamicConfig: { 'limit.historyCount.suggestContinueAsNew': 200 },
  });
  const processes = new StormProcesses(world, { agents: AGENTS, onLine });
  try {
    await processes.start();
    return await storm(options, { world, processes, findings });
  } finally {
    await processes.stop();
    await world.stop();
  }
}

interface Parts {
  readonly world: World;
  readonly processes: StormProcesses;
  readonly findings: StormReport['findings'];
}

async function storm(options: StormOptions, parts: Parts): Promise<StormReport> {
  const { world, processes, findings } = parts;
  const { seed, minutes, load, lanes } = options;
  const opened = await openEventLog(join(world.folder, 'log.db'));
  const { temporal, taskQueue } = world;
  const reader = createStoreReader({ log: opened.log, live: opened.live, source: 'none' });
  const agents = await opened.log.agents();
  const client = new ConversationClient({ temporal, taskQueue, reader, agents });
  const queries = new OutsideQueries({ temporal, uiUrl: world.uiUrl });
  const deps = { world, client, opened, queries, findings, keep: options.keep };
  const conversations = new StormConversations(deps, seed);
  const faults: string[] = [];
  const ended = new AbortController();
  const progress = setInterval(() => {
    const { workflowIds, open } = conversations;
    const found = foundIn(findings).map(([kind, list]) => `${kind} ${list.length}`);
    options.onProgress?.(
      `${workflowIds.length} conversations (${open.size} open), ${faults.length} faults, ${queries.counts.asked} queries; ${found.join(', ')}`,
    );
  }, PROGRESS_MS);
  const busy = startBusyLoops(load);
  try {
    const playing = Array.from({ length: lanes }, (_, lane) =>
      conversations.lane(lane, ended.signal),
    );
    await strike({ ...options, faults }, { processes, conversations, world });
    ended.abort();
    await processes.calm();
    await Promise.all(playing);
    options.onProgress?.('everything is at rest; every history is replayed');
    const runs = await checkRuns(deps, conversations.workflowIds);
    return {
      ...{ seed, minutes, load, runs, faults, findings },
      conversations: conversations.workflowIds.length,
      events: conversations.events,
      inputs: conversations.inputs,
      toolRuns: (await world.lines('runs.jsonl')).length,
      queries: queries.counts,
      disturbed: conversations.disturbed,
    };
  } finally {
    ended.abort();
    clearInterval(progress);
    busy.stop();
    findings.unreplayable.push(...queries.nondeterminism);
    await opened.close();
  }
}

/** Lets every fault happen at its time. */
async function strike(
  by: StormOptions & { readonly faults: string[] },
  hit: {
    readonly processes: StormProcesses;
    readonly conversations: StormConversations;
    readonly world: World;
  },
): Promise<void> {
  const lengthMs = by.minutes * 60_000;
  const startedAt = performance.now();
  const pauseUntil = async (atMs: number): Promise<void> => {
    await sleep(Math.max(0, startedAt + atMs - performance.now()));
  };
  const failed: unknown[] = [];
  for (const fault of faultsOf(by.seed, lengthMs)) {
    await pauseUntil(fault.atMs);
    await Promise.race([hit.processes.haveServed(fault.targets), pauseUntil(lengthMs)]);
    if (performance.now() - startedAt >= lengthMs) break;
    by.faults.push(nameOf(fault));
    if (fault.kind === 'roll_over')
      for (const workflowId of hit.conversations.open)
        void hit.world.temporal.workflow
          .getHandle(workflowId)
          .signal('rollOver', {})
          .catch(() => undefined);
    else
      void hit.processes.hit(fault).catch((error: unknown) => {
        failed.push(error);
      });
  }
  await pauseUntil(lengthMs);
  if (failed.length > 0) throw new Error('a process was not started again', { cause: failed[0] });
}

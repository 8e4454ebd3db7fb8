/**
 * A storm of forks: random conversations on a real server are forked at random places, valid or not, with random calls
 * that are to wait anew. Origin and fork are compared, driven on and replayed, and the origins are exported as tests.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConversationClient } from 'colloquy/client';
import { createStoreReader, openEventLog } from 'colloquy/log';
import type { Reply } from '../e2e/support/api.js';
import { juggle } from '../e2e/support/random/juggler-model.js';
import { startWorld, type World } from '../e2e/support/world.js';
import { EngineHistory } from '../support/engine/history.js';
import { replayAll } from '../support/engine/replay.js';
import { bundleFromSource } from '../support/engine/workflow-bundle.js';
import { runExported } from './exported-tests.js';
import { ForkTalks } from './fork-talks.js';
import { type ForkFindings, type ForkReport, noForkFindings } from './report.js';

const AGENTS = fileURLToPath(new URL('../e2e/fixtures/juggler.ts', import.meta.url));
const HISTORIES_AT_ONCE = 50;
const PROGRESS_EVERY = 20;

export interface ForkStormOptions {
  readonly seed: number;
  readonly conversations: number;
  /** Conversations at once. */
  readonly lanes: number;
  /** The most exports that are run. */
  readonly exports: number;
  /** A folder to which exported tests are written that end in another way than they must. */
  readonly keep?: string | undefined;
  readonly onProgress?: (line: string) => void;
}

/** @throws when the storm cannot be made at all; the report has its findings. */
export async function runForkStorm(options: ForkStormOptions): Promise<ForkReport> {
  // So that runs roll over by themselves, too.
  const dynamicConfig = { 'limit.historyCount.suggestContinueAsNew': 200 };
  const world = await startWorld({ agents: AGENTS, script: juggle, dynamicConfig });
  try {
    return await storm(world, options);
  } finally {
    await world.stop();
  }
}

async function storm(world: World, options: ForkStormOptions): Promise<ForkReport> {
  const { seed, conversations, lanes, exports, onProgress } = options;
  const findings = noForkFindings();
  const opened = await openEventLog(join(world.folder, 'log.db'));
  try {
    const { temporal, taskQueue } = world;
    const reader = createStoreReader({ log: opened.log, live: opened.live, source: 'none' });
    const agents = await opened.log.agents();
    const client = new ConversationClient({ temporal, taskQueue, reader, agents });
    const talks = new ForkTalks({ world, client, opened, findings }, seed);
    let next = 0;
    const lane = async (): Promise<void> => {
      for (let index = next++; index < conversations; index = next++) {
        await talks.play(index);
        if (index % PROGRESS_EVERY === 0)
          onProgress?.(`${index} conversations, ${JSON.stringify(talks.counts)}`);
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
    onProgress?.('every history is replayed');
    const runs = await checkRuns(world, talks.workflowIds, findings);
    const { tests, notExported } = exportsIn(talks.exports, exports, findings);
    onProgress?.(`${tests.size} exported tests run`);
    const { changed, findings: failed } = await runExported(tests, options.keep);
    findings.exports.push(...failed);
    const lines = await world.lines('runs.jsonl');
    findings.shared.push(...sharedKeys(lines));
    return {
      ...{ seed, conversations, ...talks.counts, runs, toolRuns: lines.length },
      ...{ exported: tests.size, changed, notExported, findings },
    };
  } finally {
    await opened.close();
  }
}

/** Keys under which tools ran for more than one conversation. */
function sharedKeys(lines: readonly Readonly<Record<string, unknown>>[]): readonly string[] {
  const owners = new Map<unknown, unknown>();
  return lines.flatMap(({ idempotencyKey, conversationId }) => {
    const owner = owners.get(idempotencyKey) ?? conversationId;
    owners.set(idempotencyKey, owner);
    return owner === conversationId
      ? []
      : [`${String(idempotencyKey)} is of ${String(owner)} and ${String(conversationId)}`];
  });
}

/** Replays every run, with a cold cache. Returns how many there are. */
async function checkRuns(
  { temporal }: World,
  workflowIds: readonly string[],
  findings: ForkFindings,
): Promise<number> {
  const history = new EngineHistory(temporal);
  const bundle = { code: await bundleFromSource() };
  let runs = 0;
  for (let from = 0; from < workflowIds.length; from += HISTORIES_AT_ONCE) {
    const histories: { workflowId: string; history: unknown }[] = [];
    for (const workflowId of workflowIds.slice(from, from + HISTORIES_AT_ONCE))
      for (const runId of await history.runs(workflowId)) {
        const failed = await history.failedTasks(workflowId, runId);
        findings.unreplayable.push(...failed.map((task) => `${workflowId} ${runId}: ${task}`));
        const handle = temporal.workflow.getHandle(workflowId, runId);
        histories.push({ workflowId, history: await handle.fetchHistory() });
      }
    runs += histories.length;
    await replayAll(bundle, histories).catch((error: unknown) => {
      findings.unreplayable.push(String(error));
    });
  }
  return runs;
}

/** The exports that are tests, and the reasons of the others. */
function exportsIn(
  replies: ReadonlyMap<string, Reply>,
  most: number,
  findings: ForkFindings,
): { readonly tests: Map<string, string>; readonly notExported: Record<string, number> } {
  const tests = new Map<string, string>();
  const notExported: Record<string, number> = {};
  for (const [id, { status, text, body }] of replies) {
    if (status === 200 && tests.size < most) tests.set(id, text);
    if (status === 200) continue;
    const why = /event \d+ (.*)$/.exec(String(body['detail']))?.[1];
    if (status !== 422 || why === undefined)
      findings.exports.push(`${id}: ${status} ${JSON.stringify(body)}`);
    else notExported[why] = (notExported[why] ?? 0) + 1;
  }
  return { tests, notExported };
}

/** Checks one after the other what conversations need to continue; findings name the next command. Changes nothing. */
import type { Client } from '@temporalio/client';
import { messageOf } from '../../client/temporal/errors.js';
import { recentPollers } from '../../client/workers/worker-hint.js';
import {
  repairCommand,
  START_WORKER,
  troubledConversations,
} from '../../projection/operations/troubled.js';
import type { WorkflowSource } from '../../projection/source/workflow-source.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import type { Trouble } from '../../protocol/values/trouble.js';
import type { EventLog } from '../../store/ports/log.js';
import { requireSearchAttributes } from '../../worker/temporal/search-attributes.js';

export type CheckName =
  | 'temporal'
  | 'search_attributes'
  | 'workers'
  | 'store'
  | 'agents'
  | 'conversations';

/** `warning`: conversations continue, but an operator should check. `skipped`: the check does not apply. */
export interface Finding {
  readonly check: CheckName;
  readonly status: 'ok' | 'warning' | 'failed' | 'skipped';
  readonly text: string;
  /** The next command, if one helps. */
  readonly next?: string;
}

export interface TroubledConversation extends ConversationKey {
  readonly trouble: Trouble;
  readonly next: string;
}

export interface Diagnosis {
  /** False when a check failed. */
  readonly ok: boolean;
  readonly findings: readonly Finding[];
  readonly conversations: readonly TroubledConversation[];
}

/** The installation to check. Each part is opened by its check, so that a failure to open it is a finding. */
export interface Installation {
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly searchAttributes: boolean;
  /** Rejects also if the server does not have the namespace. */
  readonly connect: () => Promise<{ readonly client: Client; readonly source: WorkflowSource }>;
  readonly openStore: () => Promise<EventLog>;
}

const DEADLINE_MS = 5_000;
/** Most conversations that are named; a bad deployment may have thousands fail. */
const MAX_NAMED = 100;

/** The checks of an installation where none fails. */
export const CHECKS = 6;

/** Never throws: failures are findings. `onFinding` gets each as it is found. */
export async function diagnose(
  installation: Installation,
  onFinding?: (finding: Finding) => void,
): Promise<Diagnosis> {
  const { address, namespace } = installation;
  const findings: Finding[] = [];
  const note = (finding: Finding): void => {
    findings.push(finding);
    onFinding?.(finding);
  };
  const check = async <Found>(
    name: CheckName,
    run: () => Promise<{ readonly said: Omit<Finding, 'check'>; readonly found?: Found }>,
  ): Promise<Found | undefined> => {
    try {
      const { said, found } = await run();
      note({ check: name, ...said });
      return found;
    } catch (error) {
      note({ check: name, status: 'failed', text: messageOf(error) });
      return undefined;
    }
  };
  const server = await check('temporal', async () => ({
    said: { status: 'ok', text: `Temporal answers at ${address}, namespace "${namespace}"` },
    found: await installation.connect(),
  }));
  if (server !== undefined) {
    await check('search_attributes', async () => ({
      said: await attributesOf(server.client, installation),
    }));
    await check('workers', async () => ({ said: await workersOf(server.client, installation) }));
  }
  const log = await check('store', async () => {
    const opened = await installation.openStore();
    await opened.list({ limit: 1 });
    return { said: { status: 'ok', text: 'The event log can be read' }, found: opened };
  });
  if (log !== undefined) await check('agents', async () => ({ said: await agentsOf(log) }));
  const conversations =
    server === undefined
      ? undefined
      : await check('conversations', async () => {
          const troubled = await troubledConversations({ ...server, log }, { limit: MAX_NAMED });
          const found = troubled.map((each) => ({ ...each, next: nextFor(each, each.trouble) }));
          return { said: saidOf(found), found };
        });
  return {
    ok: findings.every(({ status }) => status !== 'failed'),
    findings,
    conversations: conversations ?? [],
  };
}

async function attributesOf(
  client: Client,
  { searchAttributes }: Installation,
): Promise<Omit<Finding, 'check'>> {
  if (!searchAttributes) return { status: 'skipped', text: 'Search attributes are switched off' };
  await client.withDeadline(Date.now() + DEADLINE_MS, () => requireSearchAttributes(client));
  return { status: 'ok', text: 'The search attributes are registered' };
}

async function workersOf(
  client: Client,
  { taskQueue }: Installation,
): Promise<Omit<Finding, 'check'>> {
  const living = await recentPollers(client, taskQueue, { deadlineMs: DEADLINE_MS });
  if (living.length > 0)
    return { status: 'ok', text: `${living.length} workers poll task queue "${taskQueue}"` };
  return {
    status: 'failed',
    text: `No worker polls task queue "${taskQueue}"`,
    next: START_WORKER,
  };
}

async function agentsOf(log: EventLog): Promise<Omit<Finding, 'check'>> {
  const published = await log.agents();
  const names = published.map(({ name, isCatalog }) => (isCatalog ? `catalog ${name}` : name));
  if (names.length > 0) return { status: 'ok', text: `Agents: ${names.join(', ')}` };
  return {
    status: 'warning',
    text: 'No worker has published an agent to this event log',
    next: START_WORKER,
  };
}

function saidOf(found: readonly TroubledConversation[]): Omit<Finding, 'check'> {
  const failing = found.filter(({ trouble }) => trouble.kind === 'failing').length;
  const slow = found.length - failing;
  if (failing > 0)
    return { status: 'failed', text: `${failing} conversations are failing, ${slow} are slow` };
  if (slow > 0) return { status: 'warning', text: `${slow} conversations are slow` };
  return { status: 'ok', text: 'No conversation is failing or slow' };
}

/** A slow run may not replay, either: only the first attempt of a task is recorded, and that may have timed out. */
function nextFor(key: ConversationKey, { kind }: Trouble): string {
  const repair = repairCommand(key);
  if (kind === 'failing') return repair;
  return `start more workers, or find what holds them up; "${repair}" says whether it replays`;
}

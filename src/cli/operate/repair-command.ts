/**
 * `colloquy repair`: reports how far the history of a conversation replays with the code of this package, and resets it
 * there on demand. Exit code 0 when nothing is left to repair, else 1.
 */
import { checkKey } from '../../client/api/checks.js';
import { CompressionCodec } from '../../client/payloads/payload-codec.js';
import { DEFAULT_TENANT } from '../../protocol/values/ids.js';
import { applyRepair, planRepair, type RepairPlan } from '../../worker/repair/index.js';
import { readConfig } from '../process/config.js';
import { createPino, installRuntime } from '../process/logging.js';
import { exitNow } from '../process/process-life.js';
import { Progress } from '../terminal/progress.js';
import { openExistingLog, openTemporal } from './open.js';

export interface RepairFlags {
  readonly tenant?: string;
  readonly data?: string;
  readonly apply?: boolean;
  readonly json?: boolean;
  /** Seconds to keep trying to reach Temporal and Postgres; 0 = one try. */
  readonly retry: number;
}

type Shown = RepairPlan & { readonly newRunId?: string };

export async function runRepair(conversationId: string, flags: RepairFlags): Promise<void> {
  const key = { tenant: flags.tenant ?? DEFAULT_TENANT, conversationId };
  checkKey(key);
  const config = readConfig(process.env, { data: flags.data });
  // The replays are expected to fail: Temporal's messages about that are in the report, which has stdout to itself.
  const logLevel = config.logLevel === 'debug' ? 'debug' : 'silent';
  installRuntime(createPino({ ...config, logLevel }, 'colloquy-operate'));
  const opened = await openExistingLog(config, flags.retry);
  const temporal = await openTemporal(config, flags.retry);
  const progress = new Progress('replays', process.stderr);
  const onReplayed = progress.at.bind(progress);
  const replay = { codecs: [new CompressionCodec()], onReplayed };
  const deps = { temporal, log: opened.log, replay };
  const planned = flags.apply === true ? applyRepair(deps, key) : planRepair(deps, key);
  const outcome: Shown = await planned.finally(() => {
    progress.end();
  });
  if (flags.json === true)
    process.stdout.write(`${JSON.stringify(jsonOf(outcome), undefined, 2)}\n`);
  else process.stdout.write(`${repairText(conversationId, outcome)}\n`);
  await opened.close();
  exitNow(isLeft(outcome) ? 1 : 0);
}

/** True for a reset that was planned, but not carried out. */
function isLeft(outcome: Shown): boolean {
  return outcome.status === 'reset' && outcome.newRunId === undefined;
}

/** Without the entries for the new run, which may be megabytes. */
function jsonOf(outcome: Shown): object {
  if (outcome.status !== 'reset') return outcome;
  const { entries: _entries, resetToId: _id, ...rest } = outcome;
  return rest;
}

const BECOMES = {
  recorded: 'not done again: its end is recorded',
  unknown: 'not done again: its tool is asked, or its outcome is unknown',
  again: 'done again where it is still wanted',
} as const;

export function repairText(conversationId: string, outcome: Shown): string {
  if (outcome.status === 'not_running')
    return `Conversation "${conversationId}" does not run; there is nothing to repair`;
  if (outcome.status === 'replays')
    return `All ${outcome.historyLength} events of conversation "${conversationId}" replay with this code: a reset would change nothing.\nIf it fails all the same, this code fails on later events: fix the code, and start workers with it.`;
  const { error, keptEvents, thrownEvents, loggedEvents, activities, inputs, warnings, newRunId } =
    outcome;
  const done = newRunId !== undefined;
  return [
    `The history of conversation "${conversationId}" does not replay: ${error}`,
    `kept:        ${keptEvents} events`,
    `thrown away: ${thrownEvents} events; ${loggedEvents} events of the log ${done ? 'were' : 'will be'} taken over as readers have seen them`,
    ...activities.map(({ activityId, becomes }) => `  ${activityId}  ${BECOMES[becomes]}`),
    ...inputs.map(({ by, name }) => `  ${by} ${name}  applied again in its place`),
    ...warnings.map((warning) => `warning: ${warning}`),
    done
      ? `It was reset, and continues as run ${newRunId}`
      : `Nothing was changed. To reset it: npx colloquy repair ${conversationId} --apply`,
  ].join('\n');
}

/**
 * `colloquy replay`: replays the histories of a conversation, or recorded ones, with the workflow code of this package.
 * Exit code 0 when all of them replay, else 1.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkKey } from '../../client/api/checks.js';
import { CompressionCodec } from '../../client/payloads/payload-codec.js';
import type { HistoryEvent } from '../../projection/source/history-tail.js';
import { DEFAULT_TENANT } from '../../protocol/values/ids.js';
import { isRecord } from '../../protocol/values/json.js';
import { type ReplayedRun, replayRun, runsOf } from '../../worker/repair/index.js';
import { ConfigError, readConfig } from '../process/config.js';
import { createPino, installRuntime } from '../process/logging.js';
import { exitNow } from '../process/process-life.js';
import { Progress } from '../terminal/progress.js';
import { openTemporal } from './open.js';

export interface ReplayFlags {
  readonly tenant?: string;
  /** Folder of recorded histories. */
  readonly history?: string;
  readonly json?: boolean;
  /** Seconds to keep trying to reach Temporal; 0 = one try. */
  readonly retry: number;
}

/** `name`: the id of the run, or the file. */
type Shown = ReplayedRun & { readonly name: string };

interface Source {
  readonly name: string;
  readonly events: readonly HistoryEvent[];
}

/** @throws {ConfigError} when nothing is named, or a file holds no history */
export async function runReplay(what: string | undefined, flags: ReplayFlags): Promise<void> {
  const config = readConfig(process.env);
  const files = filesOf(what, flags.history);
  // The replays may fail: Temporal's messages about that are in the report, which has stdout to itself.
  const logLevel = config.logLevel === 'debug' ? 'debug' : 'silent';
  installRuntime(createPino({ ...config, logLevel }, 'colloquy-operate'));
  const sources =
    files === undefined
      ? ofConversation(what ?? '', flags)
      : files.map((file) => ({ name: file, events: historyIn(file) }));
  const shown: Shown[] = [];
  const progress = new Progress('histories', process.stderr);
  progress.at(0, files?.length);
  for await (const { name, events } of sources) {
    const run = { name, ...(await replayRun(events, { codecs: [new CompressionCodec()] })) };
    shown.push(run);
    progress.end();
    if (flags.json !== true) process.stdout.write(`${replayText(run)}\n`);
    progress.step();
  }
  progress.end();
  if (shown.length === 0)
    throw new ConfigError(
      `The server has no history of conversation "${what ?? ''}"; other tenants: --tenant`,
    );
  const ok = shown.every(({ status }) => status === 'replays');
  if (flags.json === true)
    process.stdout.write(`${JSON.stringify({ ok, histories: shown }, undefined, 2)}\n`);
  exitNow(ok ? 0 : 1);
}

async function* ofConversation(
  conversationId: string,
  { tenant = DEFAULT_TENANT, retry }: ReplayFlags,
): AsyncGenerator<Source, void> {
  const key = { tenant, conversationId };
  checkKey(key);
  const temporal = await openTemporal(readConfig(process.env), retry);
  for await (const { runId, events } of runsOf(temporal, key)) yield { name: runId, events };
}

/** Undefined when a conversation is named. @throws {ConfigError} */
function filesOf(
  what: string | undefined,
  folder: string | undefined,
): readonly string[] | undefined {
  if ((what === undefined) === (folder === undefined))
    throw new ConfigError('Name a conversation, a file with a history, or a folder (--history)');
  if (folder === undefined)
    return what?.endsWith('.json') === true && existsSync(what) ? [what] : undefined;
  if (!existsSync(folder)) throw new ConfigError(`--history: there is no folder ${folder}`);
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  if (names.length === 0)
    throw new ConfigError(`--history: ${folder} has no history (files that end in .json)`);
  return names.sort().map((name) => join(folder, name));
}

/**
 * Reads a history as `temporal workflow show --output json` writes it. @throws {ConfigError} when the file holds none
 */
export function historyIn(file: string): readonly HistoryEvent[] {
  let read: unknown;
  try {
    read = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`${file} cannot be read as JSON: ${reason}`);
  }
  const events = isRecord(read) ? read['events'] : undefined;
  const [first] = Array.isArray(events) ? (events as readonly unknown[]) : [];
  if (!isRecord(first) || !isRecord(first['workflowExecutionStartedEventAttributes']))
    throw new ConfigError(
      `${file} is no history: it must have "events" that begin with the start of a run, as "temporal workflow show --output json" writes them`,
    );
  return events as readonly HistoryEvent[];
}

export function replayText(run: Shown): string {
  if (run.status === 'replays') return `replays  ${run.name}  ${run.events} events`;
  const { name, events, at, replayed, error } = run;
  return `FAILS    ${name}  at event ${at} of ${events}, behind ${replayed} that replay: ${error}`;
}

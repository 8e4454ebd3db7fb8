/**
 * `colloquy check`: reports what a deployment of these agents would do to the calls that wait in an event log. Changes
 * nothing.
 */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { deletedAgent } from '../../activities/shared/found-agents.js';
import { DefinitionError } from '../../define/checks/problems.js';
import type { AgentCatalog, AnyAgent } from '../../define/define-agent.js';
import { DOCUMENTS } from '../../define/plugin/documents.js';
import { portAccess } from '../../define/tool/ports.js';
import { type OpenLog, openEventLog } from '../../projection/source/open-log.js';
import type { EventLog } from '../../store/ports/log.js';
import { type Forecast, forecast, type WaitingCall } from '../../tools/definition/forecast.js';
import { withSubAgents } from '../../tools/registry.js';
import { loadAgents } from '../process/agents-module.js';
import { ConfigError, readConfig } from '../process/config.js';
import { Progress } from '../terminal/progress.js';
import { waitingCalls } from './waiting-calls.js';

export interface CheckFlags {
  readonly agents: string;
  /** File or folder of a sqlite log, or address of a Postgres database. */
  readonly against?: string;
  readonly json?: boolean;
}

export interface CheckedCall extends Forecast {
  readonly tenant: string;
  readonly conversationId: string;
  readonly agent: string;
  readonly toolCallId: string;
  readonly tool: string;
  readonly executor: string;
  readonly waits: string;
}

export interface CheckReport {
  readonly checked: number;
  readonly breaks: number;
  /** Calls with an outcome other than `continues`. */
  readonly calls: readonly CheckedCall[];
}

/** Exit code 1 when a call breaks. @throws {ConfigError} when there is no event log; {AgentsModuleError} */
export async function runCheck(flags: CheckFlags): Promise<void> {
  const { agents, catalog } = await loadAgents(flags.agents, { services: false });
  const opened = await openEventLog(logAt(flags.against));
  const progress = new Progress('waiting calls', process.stderr);
  const report = await checkAgents(
    { agents, find: finder(catalog, opened) },
    opened.log,
    progress,
  ).finally(() => opened.close());
  progress.end();
  const text = flags.json === true ? JSON.stringify(report, undefined, 2) : tableOf(report);
  process.stdout.write(`${text}\n`);
  // The agents module may have left something open.
  process.exit(report.breaks > 0 ? 1 : 0);
}

interface CheckedAgents {
  readonly agents: readonly AnyAgent[];
  /** Finds others. A `DefinitionError` of it breaks the call. @defaultValue there are none */
  readonly find?: (of: {
    readonly tenant: string;
    readonly agent: string;
  }) => Promise<AnyAgent | undefined>;
}

/** Reads the documents of the event log. A log that keeps none has none of the agents that are found there. */
export function finder(
  catalog: AgentCatalog | undefined,
  { documents }: Pick<OpenLog, 'documents'>,
): NonNullable<CheckedAgents['find']> {
  const ctx = portAccess(documents === undefined ? {} : { [DOCUMENTS.id]: documents });
  return async ({ tenant, agent }) => {
    try {
      const found = await catalog?.find({ tenant, agent }, ctx);
      return found === 'deleted' ? deletedAgent(agent) : found;
    } catch (error) {
      if (documents !== undefined || error instanceof DefinitionError) throw error;
      return undefined;
    }
  };
}

export async function checkAgents(
  { agents, find }: CheckedAgents,
  log: Pick<EventLog, 'list' | 'readTurn'>,
  progress?: Progress,
): Promise<CheckReport> {
  const byName = new Map(withSubAgents(agents).map((agent) => [agent.name, agent]));
  const calls: CheckedCall[] = [];
  let checked = 0;
  for await (const found of waitingCalls(log)) {
    const { tenant, conversationId, agent, plan, waits } = found;
    checked += 1;
    progress?.step();
    const said = await forecastOf(found, async () => byName.get(agent) ?? (await find?.(found)));
    if (said.outcome === 'continues') continue;
    const { toolCallId, name: tool, executor } = plan;
    calls.push({ tenant, conversationId, agent, toolCallId, tool, executor, waits, ...said });
  }
  return { checked, breaks: calls.filter(({ outcome }) => outcome === 'breaks').length, calls };
}

async function forecastOf(
  found: WaitingCall & { readonly agent: string },
  agentOf: () => Promise<AnyAgent | undefined>,
): Promise<Forecast> {
  try {
    return await forecast(await agentOf(), found.agent, found);
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    return { outcome: 'breaks', why: error.message.replaceAll(/\s+/g, ' ') };
  }
}

/** Opening a missing file would create an empty log without waiting calls. */
function logAt(against: string | undefined): string {
  const given = against ?? readConfig(process.env, {}).eventLog;
  if (/^postgres(ql)?:/.test(given)) return given;
  const file = existsSync(given) && statSync(given).isDirectory() ? join(given, 'log.db') : given;
  if (existsSync(file)) return file;
  throw new ConfigError(
    `No event log at ${file}. Say where it is: --against <file, folder or postgres://...>, ` +
      'COLLOQUY_DATA or COLLOQUY_DATABASE_URL',
  );
}

const COLUMNS = ['outcome', 'agent', 'tool', 'waits', 'conversation', 'call', 'why'] as const;

export function tableOf({ checked, breaks, calls }: CheckReport): string {
  const rows = calls.map((call) => [
    ...[call.outcome, call.agent, call.tool, call.waits],
    ...[`${call.tenant}/${call.conversationId}`, call.toolCallId, call.why],
  ]);
  const all = rows.length === 0 ? [] : [[...COLUMNS], ...rows];
  const widths = COLUMNS.map((_, column) =>
    Math.max(0, ...all.map((row) => row[column]?.length ?? 0)),
  );
  const lines = all.map((row) =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const others = calls.length - breaks;
  const sum = `${checked} waiting calls: ${breaks} break, ${others} change, ${checked - calls.length} go on`;
  return [...lines, ...(lines.length === 0 ? [] : ['']), sum].join('\n');
}

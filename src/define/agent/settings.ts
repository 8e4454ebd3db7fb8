/**
 * The settings of an agent, which define how its conversations behave. Validated at definition; data from then on. Runs
 * anywhere.
 */
import { type AgentSettings, ON_BUSY, type OnBusy } from '../../protocol/conversation/agents.js';
import type { TurnBudgets } from '../../protocol/conversation/turns.js';
import { MAX_WAIT_MS } from '../../protocol/limits/limits.js';
import {
  DEFAULT_IDLE_CLOSE_MS,
  DEFAULT_MAX_STEPS,
  MAX_INBOX_RATE_MS,
  MAX_INBOX_RATE_TURNS,
  MAX_MAX_STEPS,
} from '../../protocol/limits/service-limits.js';
import { type Duration, durationMs, durationProblem } from '../../protocol/values/durations.js';
import { isRecord } from '../../protocol/values/json.js';
import { CORE_REVISION } from '../../protocol/workflow/revisions.js';
import { deadlineProblem } from '../checks/deadlines.js';
import { checkKeys, type ProblemList, shown, type Untyped } from '../checks/problems.js';
import type { InboxRate } from '../plugin/types.js';
import type { AgentTimeoutsSpec } from '../tool-rules/timeouts.js';
import { checkSubAgents } from './sub-agents.js';

/**
 * The most that one turn may spend. A turn that would go over ends with a message that names the bound; a call gets an
 * error result.
 */
export interface TurnBudgetsSpec {
  /** Tokens of all model calls of the turn. Checked before each call, so the last one may go over. */
  readonly tokens?: number;
  /**
   * Cost of all model calls of the turn, in units of the currency of the model's prices: 0.5 is half a dollar. The
   * model must have prices. Checked before each call, so the last one may go over; excludes the provider's charges for
   * its own tools.
   */
  readonly cost?: number;
  /** Time from the turn's start, waits for people included. Calls that run then are stopped. */
  readonly time?: Duration;
  /** Tool calls in all. */
  readonly calls?: number;
  /** Tool calls by the name of the tool. */
  readonly callsOf?: Readonly<Record<string, number>>;
}

export interface AgentSettingsSpec {
  /** Model calls of one turn before the engine ends it. @defaultValue 25 */
  readonly maxSteps?: number;
  /**
   * Action on a message that comes while a turn runs: `reject` it, let it wait in a `queue`, `interrupt` the turn, or
   * `steer` it (the turn's next model call reads the message). A message may override it, and so does `whileWaiting`
   * for a turn that waits for a person. @defaultValue 'reject'
   */
  readonly onBusy?: OnBusy;
  /** An idle conversation closes after this. @defaultValue 30 days */
  readonly idleClose?: Duration;
  /**
   * The part of the transcript that a model call is sent: the messages since the last call (workers cache the rest, or
   * query it), or all of it, which makes histories grow with the square of the conversation. @defaultValue 'delta'
   */
  readonly transcripts?: 'delta' | 'full';
  /** @defaultValue no bounds but `maxSteps` */
  readonly budgets?: TurnBudgetsSpec;
  /** Time-outs of calls whose tools set none. @defaultValue those of the engine */
  readonly timeouts?: AgentTimeoutsSpec;
  /**
   * From this many on, the same call (tool and arguments) in one turn is not run, and the model gets an error. The
   * repetition before runs, and a `notice` beside its result warns the model. @defaultValue never
   */
  readonly repeatLimit?: number;
  /** Action on a tool's failure: give the model the error, or end the turn as failed. @defaultValue 'feed_back' */
  readonly onToolError?: ToolErrorRule;
  /** Action on a call of a tool that the agent does not have. @defaultValue 'feed_back' */
  readonly onUnknownTool?: ToolErrorRule;
  /**
   * Action on a message while calls wait for a person. `detach`: the calls are detached; the model reads that they are
   * pending and answers the message, and their answers come later as new input. `block`: the message is treated by
   * `onBusy`. Otherwise `onBusy` concerns only turns that work, or messages that themselves set `onBusy: 'queue'`,
   * `'reject'` or `'interrupt'`. @defaultValue 'detach'
   */
  readonly whileWaiting?: 'detach' | 'block';
  /**
   * Order of the calls of one step: all at once, or one after the other, each validated and gated when its turn comes
   * (one more activity for each call). The model reads the results in its own order either way. @defaultValue
   * 'parallel'
   */
  readonly toolExecution?: 'parallel' | 'sequential';
  /** Bounds of the sub-agents of one conversation. */
  readonly subAgents?: SubAgentBoundsSpec;
  /** Treatment of inbox events: results of detached calls, and events of other systems. */
  readonly inbox?: InboxSpec;
}

export interface InboxSpec {
  /**
   * Events that come while a turn runs. `read`: the turn's next model call reads them, and the turn goes on for them.
   * `next_turn`: together they are the input of the next turn, and model calls until then read a preview of them.
   * @defaultValue 'read'
   */
  readonly whileBusy?: 'read' | 'next_turn';
  /**
   * The most turns that events may start within a time: 1 to 120 within up to 1 hour. Then events wait, and the log
   * says so (`inbox_paused`). Turns of messages are not counted. @defaultValue that of a plugin, such as
   * `spacesPlugin`; else no bound
   */
  readonly rate?: InboxRate;
}

export interface SubAgentBoundsSpec {
  /** Levels of sub-agents below a conversation that no other has started: 1 to 10. @defaultValue 4 */
  readonly maxDepth?: number;
  /** Sub-agents at work at once: 1 to 100; calls beyond get an error result. @defaultValue 20 */
  readonly maxOpen?: number;
}

export type ToolErrorRule = 'feed_back' | 'abort_turn';

const TOOL_ERROR_RULES: readonly ToolErrorRule[] = ['feed_back', 'abort_turn'];
const VALUES: Readonly<Record<string, readonly string[]>> = {
  onBusy: ON_BUSY,
  whileWaiting: ['block', 'detach'],
  toolExecution: ['parallel', 'sequential'],
  onToolError: TOOL_ERROR_RULES,
  transcripts: ['delta', 'full'],
  onUnknownTool: TOOL_ERROR_RULES,
};
const COUNTS = ['maxSteps', 'idleClose', 'budgets', 'repeatLimit'];
const FIELDS = [...COUNTS, 'timeouts', 'subAgents', 'inbox', ...Object.keys(VALUES)];
const INBOX = ['whileBusy', 'rate'];
const BUDGETS = ['tokens', 'cost', 'time', 'calls', 'callsOf'];
const MICROS_PER_UNIT = 1_000_000;
/** A higher value would be no bound, and its millionths would not be exact. */
const MAX_COST = 1_000_000;

/** Settings as conversations carry them. A field that is not set is left out, so that it stays the engine's default. */
export function settingsOf(
  spec: AgentSettingsSpec | undefined,
  { currency, rate }: { readonly currency: string; readonly rate: InboxRate | undefined },
): AgentSettings {
  const { budgets, repeatLimit, onToolError, onUnknownTool } = spec ?? {};
  return {
    maxSteps: spec?.maxSteps ?? DEFAULT_MAX_STEPS,
    onBusy: spec?.onBusy ?? 'reject',
    idleCloseMs: durationMs(spec?.idleClose) ?? DEFAULT_IDLE_CLOSE_MS,
    ...(budgets === undefined ? {} : { budgets: budgetsOf(budgets, currency) }),
    ...(repeatLimit === undefined ? {} : { repeatLimit }),
    ...(spec?.whileWaiting === 'block' ? {} : { whileWaiting: 'detach' }),
    ...(spec?.toolExecution === 'sequential' ? { toolExecution: 'sequential' } : {}),
    ...(spec?.subAgents === undefined ? {} : { subAgents: spec.subAgents }),
    ...inboxOf(spec?.inbox?.whileBusy, spec?.inbox?.rate ?? rate),
    ...(spec?.transcripts === 'full' ? { transcripts: 'full' } : {}),
    ...(onToolError === 'abort_turn' ? { onToolError } : {}),
    ...(onUnknownTool === 'abort_turn' ? { onUnknownTool } : {}),
    coreRevision: CORE_REVISION,
  };
}

function inboxOf(
  whileBusy: InboxSpec['whileBusy'],
  rate: InboxRate | undefined,
): Pick<AgentSettings, 'inbox'> {
  const perMs = durationMs(rate?.per);
  const inbox = {
    ...(whileBusy === 'next_turn' ? { whileBusy } : {}),
    ...(rate === undefined || perMs === undefined ? {} : { rate: { turns: rate.turns, perMs } }),
  };
  return Object.keys(inbox).length === 0 ? {} : { inbox };
}

function budgetsOf({ time, cost, ...counts }: TurnBudgetsSpec, currency: string): TurnBudgets {
  const timeMs = durationMs(time);
  return {
    ...counts,
    ...(cost === undefined
      ? {}
      : { cost: { micros: Math.round(cost * MICROS_PER_UNIT), currency } }),
    ...(timeMs === undefined ? {} : { timeMs }),
  };
}

/** Adds every fault of the settings. `isTool`: whether the agent has, or may later have, a tool of the name. */
export function checkSettings(
  settings: unknown,
  isTool: (name: string) => boolean,
  problems: ProblemList,
): void {
  if (settings === undefined) return;
  if (!isRecord(settings)) {
    problems.add('settings', `must be an object, got ${shown(settings)}`);
    return;
  }
  checkKeys(problems, settings, { prefix: 'settings.', allowed: FIELDS });
  const { maxSteps, idleClose, repeatLimit, budgets } = settings;
  if (maxSteps !== undefined && !isCount(maxSteps, 1, MAX_MAX_STEPS))
    problems.add('settings.maxSteps', `must be a whole number from 1 to ${MAX_MAX_STEPS}`);
  if (repeatLimit !== undefined && !isCount(repeatLimit, 2))
    problems.add('settings.repeatLimit', 'must be a whole number from 2');
  if (idleClose !== undefined)
    problems.addIf(
      'settings.idleClose',
      deadlineProblem(idleClose, { minMs: 1, maxMs: MAX_WAIT_MS }),
    );
  checkBudgets(budgets, isTool, problems);
  checkSubAgents(settings['subAgents'], problems);
  checkInbox(settings['inbox'], problems);
  checkValues(settings, problems);
}

function checkInbox(inbox: unknown, problems: ProblemList): void {
  if (inbox === undefined) return;
  if (!isRecord(inbox)) {
    problems.add('settings.inbox', `must be an object, got ${shown(inbox)}`);
    return;
  }
  checkKeys(problems, inbox, { prefix: 'settings.inbox.', allowed: INBOX });
  const { whileBusy, rate } = inbox;
  if (whileBusy !== undefined && whileBusy !== 'read' && whileBusy !== 'next_turn')
    problems.add(
      'settings.inbox.whileBusy',
      `must be one of read, next_turn, got ${shown(whileBusy)}`,
    );
  checkInboxRate(rate, 'settings.inbox.rate', problems);
}

/** Adds every fault of a rate, of settings or of a plugin, below `field`. An absent rate has none. */
export function checkInboxRate(rate: unknown, field: string, problems: ProblemList): void {
  if (rate === undefined) return;
  if (!isRecord(rate)) {
    problems.add(
      field,
      `must be an object such as {turns: 30, per: '1 minute'}, got ${shown(rate)}`,
    );
    return;
  }
  checkKeys(problems, rate, { prefix: `${field}.`, allowed: ['turns', 'per'] });
  if (!isCount(rate['turns'], 1, MAX_INBOX_RATE_TURNS))
    problems.add(`${field}.turns`, `must be a whole number from 1 to ${MAX_INBOX_RATE_TURNS}`);
  problems.addIf(
    `${field}.per`,
    durationProblem(rate['per'], { minMs: 1, maxMs: MAX_INBOX_RATE_MS }),
  );
}

function checkBudgets(
  budgets: unknown,
  isTool: (name: string) => boolean,
  problems: ProblemList,
): void {
  if (budgets === undefined) return;
  if (!isRecord(budgets)) {
    problems.add('settings.budgets', `must be an object, got ${shown(budgets)}`);
    return;
  }
  checkKeys(problems, budgets, { prefix: 'settings.budgets.', allowed: BUDGETS });
  const { time, callsOf, cost } = budgets;
  for (const field of ['tokens', 'calls'])
    if (budgets[field] !== undefined && !isCount(budgets[field], 1))
      problems.add(`settings.budgets.${field}`, 'must be a whole number from 1');
  if (cost !== undefined && !isCost(cost))
    problems.add('settings.budgets.cost', `must be a number from 0.000001 to ${MAX_COST}`);
  if (time !== undefined)
    problems.addIf(
      'settings.budgets.time',
      deadlineProblem(time, { minMs: 1, maxMs: MAX_WAIT_MS }),
    );
  if (callsOf === undefined) return;
  if (!isRecord(callsOf)) {
    problems.add('settings.budgets.callsOf', 'must be an object such as {"notes.search": 3}');
    return;
  }
  for (const [name, count] of Object.entries(callsOf)) {
    const field = `settings.budgets.callsOf.${name}`;
    if (!isCount(count, 0)) problems.add(field, 'must be a whole number from 0');
    if (!isTool(name)) problems.add(field, "is not one of this agent's tools");
  }
}

function isCost(value: unknown): boolean {
  return typeof value === 'number' && value >= 1 / MICROS_PER_UNIT && value <= MAX_COST;
}

function isCount(value: unknown, from: number, to = Number.MAX_SAFE_INTEGER): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= from && value <= to;
}

function checkValues(settings: Untyped, problems: ProblemList): void {
  for (const [field, allowed] of Object.entries(VALUES)) {
    const value = settings[field];
    if (value === undefined || allowed.some((name) => name === value)) continue;
    problems.add(`settings.${field}`, `must be one of ${allowed.join(', ')}, got ${shown(value)}`);
  }
}

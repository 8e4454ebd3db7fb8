/**
 * The time-outs of calls: the tool's own, else its agent's for all tools, else the engine's. Checked at definition,
 * combined where a call is planned. Runs anywhere.
 */

import type { Executor } from '../../protocol/calls/executors.js';
import type { CallTimeouts } from '../../protocol/calls/plan.js';
import { MAX_RUN_TIMEOUT_MS, MAX_WAIT_MS } from '../../protocol/limits/limits.js';
import {
  DEFAULT_ANSWER_TIMEOUT_MS,
  DEFAULT_APPROVAL_TIMEOUT_MS,
  DEFAULT_CLAIM_TIMEOUT_MS,
  DEFAULT_CLIENT_TIMEOUT_MS,
  DEFAULT_DETACHED_TIMEOUT_MS,
  DEFAULT_EXTERNAL_TIMEOUT_MS,
  DEFAULT_RUN_TIMEOUT_MS,
} from '../../protocol/limits/service-limits.js';
import { type Duration, durationMs } from '../../protocol/values/durations.js';
import { isRecord } from '../../protocol/values/json.js';
import { deadlineProblem } from '../checks/deadlines.js';
import { checkKeys, type ProblemList, shown } from '../checks/problems.js';
import type { AnyTool } from '../tool/types.js';
import { claimProblem, warnBeforeProblem } from './expiry.js';

/** Time-outs of an agent's calls whose tools set none (`timeouts` of a tool). */
export interface AgentTimeoutsSpec {
  /** @defaultValue 24 hours */
  readonly approval?: Duration;
  /** Answers of people: to human tools, and to questions that tools ask during a run. @defaultValue 24 hours */
  readonly human?: Duration;
  /** Results of clients. @defaultValue 2 minutes */
  readonly client?: Duration;
  /** Time for a client to claim a call. @defaultValue 15 seconds */
  readonly claim?: Duration;
  /** Results of other backends. @defaultValue 30 seconds */
  readonly external?: Duration;
  /** Every wait of a detached call. @defaultValue 7 days */
  readonly detached?: Duration;
  /** One attempt of `run` or `preflight`. @defaultValue 1 minute */
  readonly run?: Duration;
}

type ClockName = keyof AgentTimeoutsSpec;

/** Milliseconds by name. */
export type ClockDefaults = Readonly<Record<ClockName, number>>;

/** The engine's defaults: long for people, short for programs, which answer soon or are gone. */
const ENGINE: ClockDefaults = {
  approval: DEFAULT_APPROVAL_TIMEOUT_MS,
  human: DEFAULT_ANSWER_TIMEOUT_MS,
  client: DEFAULT_CLIENT_TIMEOUT_MS,
  claim: DEFAULT_CLAIM_TIMEOUT_MS,
  external: DEFAULT_EXTERNAL_TIMEOUT_MS,
  detached: DEFAULT_DETACHED_TIMEOUT_MS,
  run: DEFAULT_RUN_TIMEOUT_MS,
};
const NAMES = Object.keys(ENGINE) as ClockName[];

/** The time-outs that a tool sets itself. */
export function declaredTimeouts(timeouts: unknown): Partial<CallTimeouts> {
  const given = isRecord(timeouts) ? timeouts : {};
  const clocks = ['approval', 'answer', 'claim', 'run', 'total', 'heartbeat'] as const;
  return Object.fromEntries(
    clocks.flatMap((clock) => {
      const milliseconds = durationMs(given[clock]);
      return milliseconds === undefined ? [] : [[`${clock}Ms`, milliseconds]];
    }),
  );
}

type Clocked = Pick<AnyTool, 'executor' | 'mode' | 'declaredTimeouts'>;

/** The time-outs of a call of this tool. */
export function timeoutsOf(
  { executor, mode, declaredTimeouts: own }: Clocked,
  defaults: ClockDefaults = ENGINE,
): CallTimeouts {
  const isDetached = mode === 'detach';
  const answerMs =
    own.answerMs ?? (isDetached ? defaults.detached : defaults[answererOf(executor)]);
  // A front end that is there claims a call at once; a detached call may wait for one to come back.
  const isClaimed = executor === 'client' && !isDetached;
  const claimMs = own.claimMs ?? (isClaimed ? Math.min(defaults.claim, answerMs) : undefined);
  return {
    approvalMs: own.approvalMs ?? (isDetached ? defaults.detached : defaults.approval),
    answerMs,
    ...(claimMs === undefined ? {} : { claimMs }),
    runMs: own.runMs ?? defaults.run,
    ...(own.totalMs === undefined ? {} : { totalMs: own.totalMs }),
    ...(own.heartbeatMs === undefined ? {} : { heartbeatMs: own.heartbeatMs }),
  };
}

function answererOf(executor: Executor): ClockName {
  return executor === 'client' || executor === 'external' ? executor : 'human';
}

/** Adds every fault of an agent's time-outs, and of their effect on its tools. */
export function checkAgentTimeouts(
  timeouts: unknown,
  tools: readonly AnyTool[],
  problems: ProblemList,
): void {
  if (timeouts === undefined) return;
  const field = 'settings.timeouts';
  if (!isRecord(timeouts)) {
    problems.add(field, `must be an object, got ${shown(timeouts)}`);
    return;
  }
  checkKeys(problems, timeouts, { prefix: `${field}.`, allowed: NAMES });
  for (const name of NAMES)
    if (timeouts[name] !== undefined) {
      const maxMs = name === 'run' ? MAX_RUN_TIMEOUT_MS : MAX_WAIT_MS;
      problems.addIf(`${field}.${name}`, deadlineProblem(timeouts[name], { minMs: 1, maxMs }));
    }
  const defaults = agentTimeoutsOf(timeouts);
  for (const [index, tool] of tools.entries()) {
    const clocks = timeoutsOf(tool, defaults);
    problems.addIf(`tools[${index}].timeouts.claim`, claimProblem(clocks));
    problems.addIf(`tools[${index}].warnBefore`, warnBeforeProblem(tool, clocks));
  }
}

/** The time-outs of an agent, validated by `checkAgentTimeouts` before. */
export function agentTimeoutsOf(timeouts: AgentTimeoutsSpec): ClockDefaults {
  const clocks = NAMES.map((name) => [name, durationMs(timeouts[name]) ?? ENGINE[name]] as const);
  return Object.fromEntries(clocks) as ClockDefaults;
}

/** Rules of the fields that decide how a tool runs, and how often. Runs anywhere. */

import { type Executor, waitsOutside } from '../../protocol/calls/executors.js';
import {
  MAX_TOOL_ATTEMPTS,
  MAX_TOOL_RESULT_BYTES,
  MIN_TOOL_RESULT_BYTES,
} from '../../protocol/limits/service-limits.js';
import { isRecord } from '../../protocol/values/json.js';
import { type ProblemList, shown, type Untyped } from '../checks/problems.js';

/** Adds every fault of a tool's functions, and of its rules for runs. */
export function checkExecution(spec: Untyped, executor: Executor, problems: ProblemList): void {
  const { run, executesFully } = spec;
  checkResultBytes(spec['maxResultBytes'], problems);
  checkAttempts(spec, problems);
  checkOnce(spec, problems);
  const { preflight } = spec;
  for (const clock of ['run', 'heartbeat'])
    if (executor === 'client' && preflight === undefined && clocksOf(spec)[clock] !== undefined)
      problems.add(
        `timeouts.${clock}`,
        'is for client tools with a preflight, their only code that runs',
      );
  if (preflight !== undefined && typeof preflight !== 'function')
    problems.add('preflight', `must be a function, got ${shown(preflight)}`);
  if (executor === 'server' && typeof run !== 'function')
    problems.add('run', 'a server tool must have a run function');
  const derived = !waitsOutside(executor);
  if (typeof executesFully === 'boolean' && executesFully !== derived)
    problems.add('executesFully', `is ${derived} for ${executor} tools, declared ${executesFully}`);
  checkInline(spec, problems);
}

function checkInline(spec: Untyped, problems: ProblemList): void {
  const { inline, effects, taskQueue, maxAttempts, mode } = spec;
  if (inline !== true) return;
  if (effects !== 'none')
    problems.add(
      'inline',
      `is for tools that only read: effects must be "none", got ${shown(effects ?? 'idempotent')}`,
    );
  if (taskQueue !== undefined)
    problems.add('inline', 'an inline tool cannot run on a task queue of its own');
  if (maxAttempts === 1)
    problems.add(
      'inline',
      'an inline tool that takes too long is run again, so maxAttempts is at least 2',
    );
  if (mode === 'detach')
    problems.add('inline', 'the model does not wait for a detached tool, so it cannot be inline');
}

export function checkResultBytes(bytes: unknown, problems: ProblemList): void {
  if (bytes === undefined) return;
  const whole = typeof bytes === 'number' && Number.isInteger(bytes);
  if (!whole || bytes < MIN_TOOL_RESULT_BYTES || bytes > MAX_TOOL_RESULT_BYTES)
    problems.add(
      'maxResultBytes',
      `must be a whole number from ${MIN_TOOL_RESULT_BYTES} to ${MAX_TOOL_RESULT_BYTES}, got ${shown(bytes)}`,
    );
}

function checkAttempts({ maxAttempts, effects, reconcile }: Untyped, problems: ProblemList): void {
  if (maxAttempts === undefined) return;
  const whole = typeof maxAttempts === 'number' && Number.isInteger(maxAttempts);
  if (!whole || maxAttempts < 1 || maxAttempts > MAX_TOOL_ATTEMPTS)
    problems.add(
      'maxAttempts',
      `must be a whole number from 1 to ${MAX_TOOL_ATTEMPTS}, got ${shown(maxAttempts)}`,
    );
  else if (effects === 'once' && reconcile === undefined && maxAttempts !== 1)
    problems.add(
      'maxAttempts',
      'is 1 for a tool whose effects are "once" and that has no reconcile: it could not be known that a lost run had no effect',
    );
}

/** Refuses fields for unknown outcomes in tools that may run again: these are run again instead. */
function checkOnce({ effects, reconcile, onOutcomeUnknown }: Untyped, problems: ProblemList): void {
  if (reconcile !== undefined && typeof reconcile !== 'function')
    problems.add('reconcile', `must be a function, got ${shown(reconcile)}`);
  if (effects === 'once') return;
  const rule = 'is for tools whose effects are "once" only: any other is run again';
  if (reconcile !== undefined) problems.add('reconcile', rule);
  if (onOutcomeUnknown !== undefined) problems.add('onOutcomeUnknown', rule);
}

function clocksOf({ timeouts }: Untyped): Untyped {
  return isRecord(timeouts) ? timeouts : {};
}

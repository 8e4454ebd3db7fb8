/**
 * The fields that each executor may have, and the rules of their values. Checked at definition, for callers without a
 * compiler too. Fields of later work are refused wherever accepting them would be a promise. Runs anywhere.
 */

import {
  EXECUTORS,
  type Executor,
  RISKS,
  rowOf,
  waitsOutside,
} from '../../protocol/calls/executors.js';
import { MAX_REASON_CHARS, MAX_RUN_TIMEOUT_MS, MAX_WAIT_MS } from '../../protocol/limits/limits.js';
import { MAX_HEARTBEAT_MS, MIN_HEARTBEAT_MS } from '../../protocol/limits/service-limits.js';
import { unknownFieldRule } from '../../protocol/values/field-problem.js';
import { isTaskQueue } from '../../protocol/values/ids.js';
import { isRecord } from '../../protocol/values/json.js';
import { toolNameProblem } from '../../protocol/values/tool-names.js';
import { checkAudience } from '../checks/audience.js';
import { deadlineProblem } from '../checks/deadlines.js';
import { checkKeys, type ProblemList, shown, type Untyped } from '../checks/problems.js';
import { retentionProblem } from '../checks/retention.js';
import { checkExecution } from './execution.js';
import { checkMetadata } from './metadata.js';
import { checkProviderTool } from './provider.js';

const LABELS = ['title', 'risk'] as const;
const TEXTS = ['name', 'description', 'usage'] as const;
const SHARED = [...TEXTS, ...LABELS, 'executor', 'retention', 'executesFully', 'metadata'] as const;
const COMMON = [...SHARED, 'input', 'strict', 'version'] as const;
const WAITING = ['mode', 'warnBefore', 'lateResult'] as const;
const OUTSIDE = [...COMMON, ...WAITING, 'output', 'timeouts', 'onExpire', 'audience'] as const;

/** Every field that a tool of an executor may have. */
export const FIELDS: Readonly<Record<Executor, readonly string[]>> = {
  server: [
    ...COMMON,
    ...WAITING,
    'output',
    'approval',
    'effects',
    'maxAttempts',
    'inline',
    'maxResultBytes',
    'taskQueue',
    'timeouts',
    'onExpire',
    'streaming',
    'endsTurn',
    'run',
    'migrate',
    'reconcile',
    'onOutcomeUnknown',
    'provenance',
    'audience',
  ],
  human: OUTSIDE,
  client: [...OUTSIDE, 'approval', 'preflight', 'streaming', 'migrate'],
  external: [...OUTSIDE, 'approval', 'streaming', 'migrate'],
  provider: [...SHARED, 'provider'],
  internal: [...COMMON, 'approval', 'timeouts', 'onExpire', 'endsTurn', 'migrate'],
};
const ALL_FIELDS: ReadonlySet<string> = new Set(Object.values(FIELDS).flat());

const TIMEOUTS: Readonly<Record<Executor, readonly string[]>> = {
  server: ['approval', 'answer', 'run', 'total', 'heartbeat'],
  human: ['answer', 'total'],
  client: ['approval', 'answer', 'claim', 'run', 'total', 'heartbeat'],
  external: ['approval', 'answer', 'claim', 'total'],
  provider: [],
  internal: ['approval', 'total'],
};

const MAX_VERSION_CHARS = 64;
const MAX_TITLE_CHARS = 120;
const ENUMS: Readonly<Record<string, readonly string[]>> = {
  mode: ['await', 'detach'],
  effects: ['none', 'idempotent', 'once'],
  lateResult: ['reject', 'inbox'],
  onOutcomeUnknown: ['tell', 'hold'],
  provenance: ['trusted', 'untrusted'],
  risk: RISKS,
};
const BOOLEANS: readonly string[] = ['inline', 'streaming', 'endsTurn', 'executesFully', 'strict'];

/** The executor that a definition names, or `server`; undefined when there is no such executor. */
export function executorOf(spec: Untyped): Executor | undefined {
  const executor = spec['executor'] ?? 'server';
  return EXECUTORS.find((known) => known === executor);
}

/** Checks all fields but the schemas; adds every fault. */
export function checkFields(spec: Untyped, problems: ProblemList): void {
  problems.addIf('name', toolNameProblem(spec['name']));
  checkTexts(spec, problems);
  checkValues(spec, problems);
  problems.addIf('retention', retentionProblem(spec['retention']));
  checkMetadata(spec['metadata'], problems);
  const executor = executorOf(spec);
  if (executor === undefined) {
    problems.add(
      'executor',
      `${shown(spec['executor'])} is unknown; known are ${EXECUTORS.join(', ')}`,
    );
    checkKeys(problems, spec, { prefix: '', allowed: [...ALL_FIELDS] });
    return;
  }
  if (executor === 'provider') checkProviderTool(spec['provider'], problems);
  if (executor === 'server' && spec['lateResult'] === 'inbox')
    problems.add(
      'lateResult',
      'a server tool waits only for its approval, and a late approval is never taken',
    );
  checkFieldsOfExecutor(spec, executor, problems);
  checkApproval(spec['approval'], executor, problems);
  if (FIELDS[executor].includes('audience') && spec['audience'] !== undefined)
    checkAudience(spec['audience'], 'audience', problems);
  checkTimeouts(spec['timeouts'], executor, problems);
  checkOnExpire(spec['onExpire'], executor, problems);
  checkExecution(spec, executor, problems);
  checkMigration(spec, problems);
}

function checkMigration({ version, migrate }: Untyped, problems: ProblemList): void {
  const isVersion =
    typeof version === 'string' && version !== '' && version.length <= MAX_VERSION_CHARS;
  if (version !== undefined && !isVersion)
    problems.add('version', `must be a text of 1 to ${MAX_VERSION_CHARS} characters`);
  if (migrate !== undefined && typeof migrate !== 'function')
    problems.add('migrate', `must be a function, got ${shown(migrate)}`);
}

function checkTexts(spec: Untyped, problems: ProblemList): void {
  const { description, usage, taskQueue, title } = spec;
  // A provider's tool needs none, since its model knows it already.
  const isOptional = spec['executor'] === 'provider' && description === undefined;
  if (!isOptional && (typeof description !== 'string' || description.trim() === ''))
    problems.add('description', 'must be a non-empty text: the model chooses by it');
  if (usage !== undefined && (typeof usage !== 'string' || usage.trim() === ''))
    problems.add('usage', 'must be a non-empty text, or be left out');
  if (title !== undefined && !isTitle(title))
    problems.add('title', `must be a text of 1 to ${MAX_TITLE_CHARS} characters on one line`);
  if (taskQueue !== undefined && (!isTaskQueue(taskQueue) || taskQueue.trim() === ''))
    problems.add('taskQueue', 'must be the name of a task queue');
}

function isTitle(title: unknown): boolean {
  if (typeof title !== 'string' || title.length > MAX_TITLE_CHARS) return false;
  return title.trim() !== '' && !/\p{Cc}/u.test(title);
}

function checkValues(spec: Untyped, problems: ProblemList): void {
  for (const [field, allowed] of Object.entries(ENUMS)) {
    const value = spec[field];
    if (value !== undefined && (typeof value !== 'string' || !allowed.includes(value)))
      problems.add(field, `must be one of ${allowed.join(', ')}, got ${shown(value)}`);
  }
  for (const field of BOOLEANS) {
    const value = spec[field];
    if (value !== undefined && typeof value !== 'boolean')
      problems.add(field, `must be true or false, got ${shown(value)}`);
  }
}

function checkFieldsOfExecutor(spec: Untyped, executor: Executor, problems: ProblemList): void {
  for (const field of Object.keys(spec)) {
    if (spec[field] === undefined || FIELDS[executor].includes(field)) continue;
    // `checkApproval` gives the reason for a gate.
    if (field === 'approval') continue;
    const rule = ALL_FIELDS.has(field)
      ? `does not apply to ${executor} tools`
      : unknownFieldRule(field, FIELDS[executor]);
    problems.add(field, rule);
  }
}

const UNGATED_REASONS: Readonly<Partial<Record<Executor, string>>> = {
  human: 'a human tool cannot be gated: the answer already is the decision',
  provider:
    'a provider tool cannot be gated: it runs inside the model call, where nothing can be held',
};

/** Adds every fault of a gate. */
export function checkApproval(approval: unknown, executor: Executor, problems: ProblemList): void {
  if (approval === undefined || approval === 'auto') return;
  if (!rowOf(executor).mayBeGated)
    problems.add('approval', UNGATED_REASONS[executor] ?? `${executor} tools cannot be gated`);
  if (typeof approval === 'function') return;
  if (isRecord(approval)) checkAsk(approval, problems);
  else if (approval !== 'required')
    problems.add(
      'approval',
      `must be "auto", "required", {ask} or a function, got ${shown(approval)}`,
    );
}

function checkAsk(approval: Untyped, problems: ProblemList): void {
  checkKeys(problems, approval, { prefix: 'approval.', allowed: ['ask'] });
  const { ask } = approval;
  if (!isRecord(ask)) {
    problems.add('approval.ask', 'must be an object such as {reason}');
    return;
  }
  checkKeys(problems, ask, { prefix: 'approval.ask.', allowed: ['reason', 'audience'] });
  const { reason, audience } = ask;
  if (audience !== undefined) checkAudience(audience, 'approval.ask.audience', problems);
  if (reason === undefined) return;
  if (typeof reason !== 'string' || reason.trim() === '' || reason.length > MAX_REASON_CHARS)
    problems.add('approval.ask.reason', `must be a text of 1 to ${MAX_REASON_CHARS} characters`);
}

function checkTimeouts(timeouts: unknown, executor: Executor, problems: ProblemList): void {
  if (timeouts === undefined) return;
  if (!isRecord(timeouts)) {
    problems.add('timeouts', `must be an object, got ${shown(timeouts)}`);
    return;
  }
  const known: readonly string[] = ['approval', 'answer', 'claim', 'run', 'total', 'heartbeat'];
  checkKeys(problems, timeouts, { prefix: 'timeouts.', allowed: known });
  for (const clock of known) {
    const value = timeouts[clock];
    if (value === undefined) continue;
    const field = `timeouts.${clock}`;
    if (!TIMEOUTS[executor].includes(clock))
      problems.add(field, `does not apply to ${executor} tools`);
    problems.addIf(field, deadlineProblem(value, boundsOf(clock)));
  }
}

function boundsOf(clock: string): { readonly minMs: number; readonly maxMs: number } {
  if (clock === 'heartbeat') return { minMs: MIN_HEARTBEAT_MS, maxMs: MAX_HEARTBEAT_MS };
  return { minMs: 1, maxMs: clock === 'run' ? MAX_RUN_TIMEOUT_MS : MAX_WAIT_MS };
}

function checkOnExpire(onExpire: unknown, executor: Executor, problems: ProblemList): void {
  if (onExpire === undefined || onExpire === 'error') return;
  if (!isRecord(onExpire) || !('default' in onExpire))
    problems.add('onExpire', `must be "error" or {default}, got ${shown(onExpire)}`);
  else if (!waitsOutside(executor))
    problems.add(
      'onExpire',
      'an approval that expires never has a default: silence is not consent',
    );
}

/**
 * The rules for the shape of resolutions: the fields that each type may have, and those that are recorded. Pure;
 * accepts any value from outside.
 */

import { relaxedSchema } from '../../json-schema/relaxed.js';
import type { Resolution, ResolutionType } from '../../protocol/calls/resolutions.js';
import { RESOLVES } from '../../protocol/calls/resolutions.js';
import type { Suspension } from '../../protocol/calls/suspensions.js';
import {
  MAX_ANSWER_BYTES,
  MAX_ANSWER_DEPTH,
  MAX_ID_CHARS,
  MAX_REASON_CHARS,
} from '../../protocol/limits/limits.js';
import { attachmentProblems } from '../../protocol/values/attachments.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';
import type { Json, JsonSchema } from '../../protocol/values/json.js';
import { canonicalJson, isBoundedJson, isRecord, utf8Bytes } from '../../protocol/values/json.js';
import { askDigestProblems } from '../calls/ask.js';
import { revisedDigestProblems } from '../calls/definitions.js';
import { rememberOf, rememberProblems } from '../calls/remembered-decisions.js';
import { filesOf } from '../calls/results.js';
import { answerProblems } from '../input/answer.js';
import type { PlainRecord } from '../input/plain-input.js';
import type { CallState } from '../state/calls.js';
import type { ConversationState } from '../state/state.js';

export function resolutionTypeOf(resolution: unknown): ResolutionType | undefined {
  const type = isRecord(resolution) ? resolution['type'] : undefined;
  return typeof type === 'string' && Object.hasOwn(RESOLVES, type)
    ? (type as ResolutionType)
    : undefined;
}

export function resolutionProblems(
  input: PlainRecord,
  suspension: Suspension,
): readonly FieldProblem[] {
  const { resolution, argsDigest } = input;
  const problems: FieldProblem[] = [];
  if (argsDigest !== undefined && argsDigest !== suspension.argsDigest)
    problems.push({ path: '/argsDigest', message: 'is not the digest of the pending call' });
  problems.push(...askDigestProblems(suspension, argsDigest));
  const type = resolutionTypeOf(resolution);
  if (type === 'approve') problems.push(...revisedDigestProblems(suspension, argsDigest));
  if (!isRecord(resolution) || type === undefined) {
    const expected = Object.keys(RESOLVES)
      .filter((name) => RESOLVES[name as ResolutionType].includes(suspension.kind))
      .map((name) => `"${name}"`);
    return [...problems, { path: '/resolution/type', message: `must be ${expected.join(' or ')}` }];
  }
  if (type === 'answer' || type === 'result')
    return [
      ...problems,
      ...filesProblems(resolution, suspension),
      ...answerProblems(resolution['value'], judgedBy(suspension)),
    ];
  return [...problems, ...valueProblems(type, resolution)];
}

/**
 * The schema for the check in the workflow. The one that is shown has patterns and formats, which only a worker checks.
 */
function judgedBy({ answerSchema }: Suspension): JsonSchema | undefined {
  return answerSchema === undefined ? undefined : relaxedSchema(answerSchema);
}

/** A question of a tool's code accepts a value only, no files. */
function filesProblems(resolution: PlainRecord, { ask }: Suspension): readonly FieldProblem[] {
  if (ask !== undefined) return unknownFields(resolution, ['value']);
  const problems = attachmentProblems(resolution['files']).map(({ path, message }) => ({
    path: path.replace('/attachments', '/resolution/files'),
    message,
  }));
  return [...unknownFields(resolution, ['value', 'files']), ...problems];
}

export function rememberFaults(
  state: ConversationState,
  call: CallState,
  resolution: unknown,
): readonly FieldProblem[] {
  return isRecord(resolution) ? rememberProblems(state, call, resolution) : [];
}

function valueProblems(
  type: Exclude<ResolutionType, 'answer' | 'result'>,
  resolution: PlainRecord,
): readonly FieldProblem[] {
  switch (type) {
    case 'approve':
      return [
        ...unknownFields(resolution, ['input', 'remember']),
        ...editProblems(resolution['input']),
      ];
    case 'deny':
    case 'decline':
      return [
        ...unknownFields(resolution, type === 'deny' ? ['reason', 'remember'] : ['reason']),
        ...textProblems('/resolution/reason', resolution['reason'], false),
      ];
    case 'error':
      return [
        ...unknownFields(resolution, ['message']),
        ...textProblems('/resolution/message', resolution['message'], true),
      ];
    case 'outcome':
      return outcomeProblems(resolution);
  }
}

function outcomeProblems(resolution: PlainRecord): readonly FieldProblem[] {
  const { value, error } = resolution;
  const problems = unknownFields(resolution, ['value', 'error']);
  if ((value === undefined) === (error === undefined))
    return [...problems, { path: '/resolution', message: 'must have value or error, not both' }];
  if (value === undefined) return [...problems, ...textProblems('/resolution/error', error, true)];
  return [...problems, ...answerProblems(value, undefined)];
}

/** Limit of reported fields: a refusal has to fit into a reply, however many fields were sent. */
const MAX_REPORTED_FIELDS = 20;

/** Refuses fields that would be ignored: the sender must not believe that they were used. */
function unknownFields(
  resolution: PlainRecord,
  allowed: readonly string[],
): readonly FieldProblem[] {
  return Object.keys(resolution)
    .filter((field) => field !== 'type' && !allowed.includes(field))
    .slice(0, MAX_REPORTED_FIELDS)
    .map((field) => ({
      path: `/resolution/${field.slice(0, MAX_ID_CHARS)}`,
      message: 'is not supported here',
    }));
}

function textProblems(path: string, value: unknown, required: boolean): readonly FieldProblem[] {
  if (value === undefined) return required ? [{ path, message: 'is required' }] : [];
  if (typeof value !== 'string') return [{ path, message: 'must be a string' }];
  if (value.length > MAX_REASON_CHARS)
    return [
      { path, message: `must be at most ${MAX_REASON_CHARS} characters, got ${value.length}` },
    ];
  return [];
}

export function cleanResolution(value: unknown, suspension: Suspension): Resolution | undefined {
  const type = resolutionTypeOf(value);
  if (!isRecord(value) || type === undefined) return undefined;
  const resolution = value as Resolution;
  switch (resolution.type) {
    case 'approve':
      return {
        type: 'approve',
        ...editOf(resolution.input, suspension),
        ...rememberOf(resolution),
      };
    case 'deny':
    case 'decline':
      return {
        type: resolution.type,
        ...(resolution.reason === undefined ? {} : { reason: resolution.reason }),
        ...(resolution.type === 'deny' ? rememberOf(resolution) : {}),
      };
    case 'answer':
    case 'result':
      return { type: resolution.type, value: resolution.value, ...filesOf(resolution) };
    case 'error':
      return { type: 'error', message: resolution.message };
    case 'outcome':
      return resolution.error === undefined
        ? { type: 'outcome', value: resolution.value ?? null }
        : { type: 'outcome', error: resolution.error };
  }
}

export const PATH = '/resolution/input';

/** Problems of an edit for any tool; a worker checks it against the tool's own schema. */
function editProblems(input: unknown): readonly FieldProblem[] {
  if (input === undefined) return [];
  if (!isBoundedJson(input, MAX_ANSWER_DEPTH))
    return [{ path: PATH, message: `must be JSON, nested at most ${MAX_ANSWER_DEPTH} deep` }];
  const bytes = utf8Bytes(JSON.stringify(input));
  return bytes > MAX_ANSWER_BYTES
    ? [{ path: PATH, message: `must be at most ${MAX_ANSWER_BYTES} bytes, got ${bytes}` }]
    : [];
}

/** The edit of an approval; none where it equals the pending input. */
function editOf(input: Json | undefined, { prompt }: Suspension): { input?: Json } {
  return input === undefined || canonicalJson(input) === canonicalJson(prompt) ? {} : { input };
}

/**
 * Rules for questions of tools: a worker checks them where the question is asked, and the workflow again before it
 * records it. Pure; never throws.
 */
import { jsonSchemaProblems } from '../../json-schema/relaxed.js';
import {
  MAX_ANSWER_DEPTH,
  MAX_ASK_FORM_BYTES,
  MAX_ASK_STATE_BYTES,
  MAX_AUDIENCE_NAMES,
  MAX_REASON_CHARS,
  MAX_WAIT_MS,
} from '../../protocol/limits/limits.js';
import { isTaskQueue } from '../../protocol/values/ids.js';
import { isBoundedJson, isRecord, utf8Bytes } from '../../protocol/values/json.js';

type PlainRecord = Readonly<Record<string, unknown>>;

const FIELDS = [
  'form',
  'state',
  'reason',
  'audience',
  'timeoutMs',
  'onDecline',
  'byCode',
  'heldAt',
];
const AUDIENCE = ['users', 'roles', 'exclude', 'requireVerified'];

/**
 * The first rule that a question breaks, with its field; undefined when it is valid. Workers in other languages ask
 * questions, too.
 */
export function questionProblem(question: unknown): string | undefined {
  if (!isRecord(question)) return 'it must be an object with a form';
  const unknown = Object.keys(question).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined)
    return `${unknown} is not a field; known fields are ${FIELDS.join(', ')}`;
  return (
    formProblem(question['form']) ??
    stateProblem(question['state']) ??
    textProblem(question) ??
    audienceProblem(question['audience'])
  );
}

function formProblem(form: unknown): string | undefined {
  if (!isRecord(form) || !isBoundedJson(form, MAX_ANSWER_DEPTH))
    return `form must be a JSON Schema, nested at most ${MAX_ANSWER_DEPTH} deep`;
  const bytes = utf8Bytes(JSON.stringify(form));
  if (bytes > MAX_ASK_FORM_BYTES)
    return `form has ${bytes} bytes as JSON Schema; at most ${MAX_ASK_FORM_BYTES}`;
  const [fault] = jsonSchemaProblems(form);
  return fault === undefined ? undefined : `form${fault.path}: ${fault.rule}`;
}

function stateProblem(state: unknown): string | undefined {
  if (state === undefined) return undefined;
  if (!isBoundedJson(state, MAX_ANSWER_DEPTH))
    return `state must be JSON, nested at most ${MAX_ANSWER_DEPTH} deep`;
  const bytes = utf8Bytes(JSON.stringify(state));
  return bytes <= MAX_ASK_STATE_BYTES
    ? undefined
    : `state has ${bytes} bytes as JSON; at most ${MAX_ASK_STATE_BYTES}: keep what is large elsewhere, and its id here`;
}

function textProblem({
  reason,
  timeoutMs,
  onDecline,
  byCode,
  heldAt,
}: PlainRecord): string | undefined {
  const isReason =
    typeof reason === 'string' && reason.trim() !== '' && reason.length <= MAX_REASON_CHARS;
  if (reason !== undefined && !isReason)
    return `reason must be a text of 1 to ${MAX_REASON_CHARS} characters`;
  const isTime =
    typeof timeoutMs === 'number' &&
    Number.isSafeInteger(timeoutMs) &&
    timeoutMs >= 1 &&
    timeoutMs <= MAX_WAIT_MS;
  if (timeoutMs !== undefined && !isTime)
    return `the timeout must be a whole number of milliseconds from 1 to ${MAX_WAIT_MS}`;
  if (onDecline !== undefined && onDecline !== 'enter')
    return 'onDecline must be "enter", or be left out';
  if (byCode !== undefined && byCode !== true) return 'byCode must be true or left out';
  return heldAt === undefined || isTaskQueue(heldAt)
    ? undefined
    : 'heldAt must be the name of a task queue';
}

/**
 * Checks that the audience is in normal form: a faulty one would open the question to everyone, or break the check of
 * answers.
 */
function audienceProblem(audience: unknown): string | undefined {
  if (audience === undefined) return undefined;
  if (!isRecord(audience)) return 'audience must be an object such as {roles: ["lead"]}';
  const fields = Object.keys(audience);
  if (fields.length === 0 || fields.some((field) => !AUDIENCE.includes(field)))
    return `audience must have some of ${AUDIENCE.join(', ')}, and nothing else`;
  const { requireVerified, ...lists } = audience;
  if (requireVerified !== undefined && requireVerified !== true)
    return 'audience.requireVerified must be true or left out';
  const faulty = Object.entries(lists).find(([, names]) => !isNames(names));
  return faulty === undefined
    ? undefined
    : `audience.${faulty[0]} must be a list of 1 to ${MAX_AUDIENCE_NAMES} texts`;
}

function isNames(names: unknown): boolean {
  return (
    Array.isArray(names) &&
    names.length > 0 &&
    names.length <= MAX_AUDIENCE_NAMES &&
    names.every((name) => typeof name === 'string' && name !== '')
  );
}

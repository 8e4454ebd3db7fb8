/** The rules for questions of tools: each with its bounds, and the field that it names. */
import { expect, it } from 'vitest';
import { questionProblem } from '../../../../src/core/input/question.js';
import {
  MAX_ANSWER_DEPTH,
  MAX_ASK_FORM_BYTES,
  MAX_ASK_STATE_BYTES,
  MAX_AUDIENCE_NAMES,
  MAX_REASON_CHARS,
  MAX_WAIT_MS,
} from '../../../../src/protocol/limits/limits.js';

const form = { type: 'number' };
const text = (length: number): string => 'x'.repeat(length);
const names = (count: number): readonly string[] => Array.from({ length: count }, () => 'a');
/** A form of so many bytes. */
const formOf = (bytes: number) => ({ description: text(bytes - '{"description":""}'.length) });

it.each([
  [{ form }],
  [{ form: formOf(MAX_ASK_FORM_BYTES) }],
  [{ form, state: text(MAX_ASK_STATE_BYTES - 2) }],
  [{ form, state: null }],
  [{ form, reason: text(MAX_REASON_CHARS) }],
  [{ form, timeoutMs: 1 }],
  [{ form, timeoutMs: MAX_WAIT_MS }],
  [{ form, onDecline: 'enter', byCode: true, heldAt: 'gpu' }],
  [{ form, audience: { requireVerified: true } }],
  [{ form, audience: { users: names(1), roles: names(MAX_AUDIENCE_NAMES), exclude: ['ann'] } }],
])('admits the question %#', (question) => {
  expect(questionProblem(question)).toBeUndefined();
});

const FORM = `form must be a JSON Schema, nested at most ${MAX_ANSWER_DEPTH} deep`;
const REASON = `reason must be a text of 1 to ${MAX_REASON_CHARS} characters`;
const TIME = `the timeout must be a whole number of milliseconds from 1 to ${MAX_WAIT_MS}`;
const ONE_OF =
  'audience must have some of users, roles, exclude, requireVerified, and nothing else';
const listed = (field: string): string =>
  `audience.${field} must be a list of 1 to ${MAX_AUDIENCE_NAMES} texts`;

it.each([
  ['it must be an object with a form', 'x'],
  ['it must be an object with a form', [form]],
  [
    'colour is not a field; known fields are form, state, reason, audience, timeoutMs, onDecline, byCode, heldAt',
    { form, colour: 1 },
  ],
  [FORM, {}],
  [FORM, { form: { a: 1n } }],
  [
    `form has ${MAX_ASK_FORM_BYTES + 1} bytes as JSON Schema; at most ${MAX_ASK_FORM_BYTES}`,
    { form: formOf(MAX_ASK_FORM_BYTES + 1) },
  ],
  ['form/not: $id is not supported below the top', { form: { not: { $id: 'a' } } }],
  [`state must be JSON, nested at most ${MAX_ANSWER_DEPTH} deep`, { form, state: () => 1 }],
  [
    `state has ${MAX_ASK_STATE_BYTES + 1} bytes as JSON; at most ${MAX_ASK_STATE_BYTES}: keep what is large elsewhere, and its id here`,
    { form, state: text(MAX_ASK_STATE_BYTES - 1) },
  ],
  [REASON, { form, reason: '' }],
  [REASON, { form, reason: '  ' }],
  [REASON, { form, reason: 1 }],
  [REASON, { form, reason: text(MAX_REASON_CHARS + 1) }],
  [TIME, { form, timeoutMs: 0 }],
  [TIME, { form, timeoutMs: 1.5 }],
  [TIME, { form, timeoutMs: '5' }],
  [TIME, { form, timeoutMs: MAX_WAIT_MS + 1 }],
  ['onDecline must be "enter", or be left out', { form, onDecline: 'end' }],
  ['byCode must be true or left out', { form, byCode: false }],
  ['heldAt must be the name of a task queue', { form, heldAt: '' }],
  ['audience must be an object such as {roles: ["lead"]}', { form, audience: ['lead'] }],
  [ONE_OF, { form, audience: {} }],
  [ONE_OF, { form, audience: { roles: ['lead'], teams: ['a'] } }],
  [
    'audience.requireVerified must be true or left out',
    { form, audience: { requireVerified: false } },
  ],
  [listed('roles'), { form, audience: { users: ['ann'], roles: [] } }],
  [listed('users'), { form, audience: { users: 'ann' } }],
  [listed('users'), { form, audience: { users: names(MAX_AUDIENCE_NAMES + 1) } }],
  [listed('exclude'), { form, audience: { exclude: ['ann', ''] } }],
  [listed('exclude'), { form, audience: { exclude: ['ann', 1] } }],
])('says "%s"', (problem, question) => {
  expect(questionProblem(question)).toBe(problem);
});

/**
 * Samples an answer that a waiting call accepts as it stands, from an actor that may give it: for the commands that
 * operators copy. Pure.
 */

import { isRelaxed } from '../../json-schema/relaxed.js';
import type { ToolLabels } from '../../protocol/calls/executors.js';
import type { Resolution } from '../../protocol/calls/resolutions.js';
import type { Suspension } from '../../protocol/calls/suspensions.js';
import type { Actor } from '../../protocol/values/actors.js';
import { type Audience, REQUESTER } from '../../protocol/values/audience.js';
import { cutText } from '../../protocol/values/well-formed.js';
import { shownJson, shownText } from '../../protocol/workflow/shown-text.js';
import { outsideReason } from '../calls/audience.js';
import { answerProblems } from '../input/answer.js';
import { sampleValue } from './sample-value.js';

/** Sample ids for the operator who copies the command, used where the audience requires no particular user. */
const SAMPLE_USERS: readonly string[] = ['operator', 'operator-2', 'operator-3'];
const MAX_NAMES = 6;
const MAX_NAME_CHARS = 60;
const MAX_PARTS = 3;
const MAX_FORM_CHARS = 300;
/** As JSON text, in characters; a longer one is not practical to edit in a terminal. */
const MAX_VALUE_CHARS = 600;

export type AnsweredCall = Pick<
  Suspension,
  'toolCallId' | 'kind' | 'answerSchema' | 'audience' | 'argsDigest' | 'ask' | 'revised' | 'claim'
>;

/** The input of `resolveToolCall`. */
export interface SampleAnswer {
  readonly toolCallId: string;
  readonly resolution: Resolution;
  readonly argsDigest: string | undefined;
  readonly claimId: string | undefined;
  readonly actor: Actor;
}

/**
 * The sample answer; undefined where no actor that the audience admits can be named by hand. `requesters`: ids of the
 * requesters of the call, which the audience may exclude. `hint` says, as Markdown, what to edit.
 */
export function sampleAnswer(
  call: AnsweredCall,
  requesters: readonly string[],
): { readonly answer: SampleAnswer; readonly hint: string | undefined } | undefined {
  const actor = answererOf(call, requesters);
  if (actor === undefined) return undefined;
  const { toolCallId, ask, revised, claim } = call;
  const { resolution, hint } = sampleResolution(call);
  // The digest binds the answer to the question or revision that is shown now, not to one before.
  const argsDigest = ask !== undefined || revised === true ? call.argsDigest : undefined;
  return { answer: { toolCallId, resolution, argsDigest, claimId: claim?.claimId, actor }, hint };
}

function sampleResolution({ kind, answerSchema }: AnsweredCall): {
  readonly resolution: Resolution;
  readonly hint?: string | undefined;
} {
  switch (kind) {
    case 'approval':
      return { resolution: { type: 'approve' } };
    case 'outcome':
      return {
        resolution: { type: 'outcome', value: {} },
        hint: 'put what the lost run returned in place of `{}`, or give `"error"` with what became of it instead of `"value"`',
      };
    case 'elicitation':
    case 'client_execution':
    case 'external_execution': {
      const otherwise = kind === 'elicitation' ? 'an answer' : {};
      const sample = sampleValue(answerSchema, otherwise) as Sample;
      const value = JSON.stringify(sample).length > MAX_VALUE_CHARS ? otherwise : sample;
      const type = kind === 'elicitation' ? 'answer' : 'result';
      return { resolution: { type, value }, hint: hintFor(value, answerSchema) };
    }
  }
}

type Sample = Extract<Resolution, { type: 'answer' }>['value'];

function hintFor(value: unknown, schema: Suspension['answerSchema']): string {
  const edit = 'the value is a sample: put the real one in its place';
  if (schema === undefined) return edit;
  const [problem] = answerProblems(value, schema);
  const refused = problem === undefined ? '' : `, which as it stands ${shownText(problem.message)}`;
  const judged = isRelaxed(schema) ? ', and a worker judges it by all of it' : '';
  return `${edit}${refused}. Its form${judged}: ${shownJson(schema, MAX_FORM_CHARS)}`;
}

/**
 * Picks an actor that the audience admits; undefined for an audience of verified actors, because signals and requests
 * sent by hand are not verified.
 */
function answererOf(
  { audience, claim }: AnsweredCall,
  requesters: readonly string[],
): Actor | undefined {
  const parts = partsOf(audience);
  const users = parts.flatMap((part) => part.users ?? []);
  const ids = claim === undefined ? [...users, ...SAMPLE_USERS] : [claim.by];
  const roles = [...new Set(parts.flatMap((part) => part.roles?.slice(0, 1) ?? []))];
  const actors: Actor[] = ids.map((id) => ({ id }));
  for (const id of ids) actors.push({ id, roles });
  const admits = ({ id, roles: given = [] }: Actor): boolean =>
    outsideReason(audience ?? {}, { id, roles: given, verified: false }, requesters) === undefined;
  return actors.find(admits);
}

function partsOf(audience: Audience | undefined): readonly Audience[] {
  return audience === undefined ? [] : [audience, ...(audience.also ?? []).flatMap(partsOf)];
}

/** Why the previous answer was reverted, as Markdown; empty where there was none. */
export function whyTakenBack({ reverted }: Pick<Suspension, 'reverted'>): readonly string[] {
  if (reverted === undefined) return [];
  const [problem] = reverted.problems;
  return [`an answer was taken back: ${shownText(problem?.message ?? 'it was refused')}`];
}

/** Title and risk of the tool as Markdown, to stand behind its name; empty where it declares neither. */
export function labelText({ title, risk }: ToolLabels): string {
  const parts = [
    ...(title === undefined ? [] : [shownText(title)]),
    ...(risk === undefined ? [] : [`${risk} risk`]),
  ];
  return parts.map((part) => `, ${part}`).join('');
}

/** Describes the audience as Markdown. */
export function whoMayAnswer({ audience, claim }: Pick<Suspension, 'audience' | 'claim'>): string {
  const who = textOf(audience, (name) => shownText(name, MAX_NAME_CHARS));
  return claim === undefined ? who : `only ${shownText(claim.by)}, who holds the call (${who})`;
}

/** Describes the audience as plain text, with its names as they are. */
export function audienceWords(audience: Audience | undefined): string {
  return textOf(audience, (name) => cutText(name, MAX_NAME_CHARS));
}

type Shown = (name: string) => string;

function textOf(audience: Audience | undefined, show: Shown): string {
  const parts = partsOf(audience).map((part) => partText(part, show));
  const left = parts.length - MAX_PARTS;
  const shown = left > 0 ? [...parts.slice(0, MAX_PARTS), `… ${left} more conditions`] : parts;
  return shown.length === 0 ? 'anybody' : shown.join('; and ');
}

function partText({ users, roles, exclude, requireVerified }: Audience, show: Shown): string {
  const named = [
    ...(users === undefined ? [] : [`user ${names(users, show)}`]),
    ...(roles === undefined ? [] : [`role ${names(roles, show)}`]),
  ];
  const others = exclude?.filter((name) => name !== REQUESTER) ?? [];
  return [
    named.length === 0 ? 'anybody' : named.join(' or '),
    ...(exclude?.includes(REQUESTER) === true ? ['but not the requester'] : []),
    ...(others.length === 0 ? [] : [`but not ${names(others, show)}`]),
    ...(requireVerified === true ? ['and verified'] : []),
  ].join(', ');
}

function names(list: readonly string[], show: Shown): string {
  const rest = list.length - MAX_NAMES;
  const shown = list.slice(0, MAX_NAMES).map(show);
  return [...shown, ...(rest > 0 ? [`… ${rest} more`] : [])].join(', ');
}

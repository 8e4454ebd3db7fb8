/**
 * Checks that the client makes before anything reaches Temporal: a refused first message would leave an empty
 * conversation.
 */
import { patternProblems } from '../../json-schema/judge/patterns.schema.js';
import {
  type OutputGiven,
  outputSchemaOf,
  outputSchemaProblem,
} from '../../json-schema/output-format.js';
import { schemaFormProblems } from '../../json-schema/shape.js';
import type { SendMessageInput } from '../../protocol/conversation/conversation.js';
import { messageFieldProblems } from '../../protocol/conversation/message-fields.js';
import {
  MAX_ACTOR_CHARS,
  MAX_ANSWER_BYTES,
  MAX_ANSWER_DEPTH,
} from '../../protocol/limits/limits.js';
import type { Actor, Channel, StampedActor } from '../../protocol/values/actors.js';
import { type Duration, durationMs } from '../../protocol/values/durations.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';
import { type ConversationKey, idProblem, requestIdProblem } from '../../protocol/values/ids.js';
import { isBoundedJson, isRecord, type JsonSchema, utf8Bytes } from '../../protocol/values/json.js';
import { textProblems } from '../../protocol/values/well-formed.js';
import { ConversationError, invalidField } from './errors.js';
import { checkOptions } from './known-options.js';

const { hasOwn } = Object;

/** The number of an actor's roles that the workflow keeps. */
const MAX_ACTOR_ROLES = 50;

/** @throws {ConversationError} invalid_request when an id breaks a rule. */
export function checkKey(key: ConversationKey): ConversationKey {
  const tenant = idProblem('tenant', key.tenant);
  if (tenant !== undefined) throw invalidField('/tenant', tenant);
  const id = idProblem('conversationId', key.conversationId);
  if (id !== undefined) throw invalidField('/conversationId', id);
  return key;
}

/** @throws {ConversationError} invalid_request with every field that breaks a rule. */
export function checkMessage(input: SendMessageInput): void {
  const given = messageFieldProblems(input);
  const problems = given.length > 0 ? given : outputProblems(input.output);
  const [first] = problems;
  if (first === undefined) return;
  throw new ConversationError(
    'invalid_request',
    `The message cannot be sent: ${describeProblem(first)}`,
    {
      problems,
    },
  );
}

/** @throws {ConversationError} invalid_request for a schema with types that JSON does not have. */
export function givenOutput(output: OutputGiven): JsonSchema | false {
  try {
    return outputSchemaOf(output);
  } catch (error) {
    throw invalidField('/output', error instanceof Error ? error.message : 'is no JSON Schema');
  }
}

/**
 * Finds schemas that a provider would refuse a turn later, or that no answer could satisfy. The workflow checks only
 * the size and shape of the whole.
 */
function outputProblems(output: unknown): readonly FieldProblem[] {
  if (output === undefined || output === false) return [];
  const problem = outputSchemaProblem(output);
  if (problem !== undefined) return [{ path: '/output', message: problem }];
  if (!isRecord(output)) return [];
  const [fault] = [...schemaFormProblems(output), ...patternProblems(output as JsonSchema)];
  return fault === undefined ? [] : [{ path: '/output', message: `${fault.path}: ${fault.rule}` }];
}

/** @throws {ConversationError} invalid_request when the request id is empty or too long. */
export function checkRequestId(requestId: string): string {
  const problem = requestIdProblem('requestId', requestId);
  if (problem !== undefined) throw invalidField('/requestId', problem);
  return requestId;
}

/**
 * Refuses options of a stop that the workflow would ignore: it would then stop another turn than the named one, or none
 * without a word.
 * @throws {ConversationError} invalid_request naming the field
 */
export function checkCancel(options: unknown): void {
  if (!isRecord(options)) throw invalidField('', 'must be an object');
  checkOptions('cancel', options);
  const { turnId, reason, requestId } = options;
  if (turnId !== undefined && (typeof turnId !== 'string' || turnId === ''))
    throw invalidField('/turnId', 'must be a non-empty string');
  if (reason !== undefined && typeof reason !== 'string')
    throw invalidField('/reason', 'must be a string');
  checkTexts({ turnId, reason, requestId });
  if (requestId !== undefined) checkRequestId(requestId as string);
}

/** @throws {ConversationError} invalid_request naming the first text that UTF-8 cannot hold. */
export function checkTexts(input: unknown): void {
  const [problem] = textProblems(input);
  if (problem !== undefined) throw invalidField(problem.path, problem.message);
}

const NO_RESOLUTION =
  'is required: an object such as {type: "approve"} or {type: "answer", value: ...}, by the kind of the call';

/** Why a resolution cannot be sent at all, before the workflow judges it. */
export function transportProblems(resolution: unknown): readonly FieldProblem[] {
  if (resolution === undefined) return [{ path: '/resolution', message: NO_RESOLUTION }];
  // Two levels more than an answer: the resolution itself and the depth at which its value starts.
  if (!isBoundedJson(resolution, MAX_ANSWER_DEPTH + 2))
    return [
      {
        path: '/resolution',
        message: `must be plain JSON, at most ${MAX_ANSWER_DEPTH} levels deep`,
      },
    ];
  const [malformed] = textProblems(resolution);
  if (malformed !== undefined)
    return [{ path: `/resolution${malformed.path}`, message: malformed.message }];
  const bytes = utf8Bytes(JSON.stringify(resolution));
  // The envelope around the value is some tens of bytes; the workflow judges the value itself.
  if (bytes > MAX_ANSWER_BYTES + 1024)
    return [
      {
        path: '/resolution',
        message: `must be at most ${MAX_ANSWER_BYTES} bytes as JSON, got ${bytes}`,
      },
    ];
  return [];
}

/**
 * Milliseconds of a duration that a caller gave.
 * @throws {ConversationError} invalid_request naming the field
 */
export function checkedMs(field: string, duration: Duration): number {
  const milliseconds = durationMs(duration);
  if (milliseconds !== undefined && milliseconds >= 0) return milliseconds;
  throw invalidField(
    `/${field}`,
    `must be a duration such as "20s" or "2 days", got ${JSON.stringify(duration)}`,
  );
}

/**
 * The actor as it is sent. Actors named by the application itself are marked as verified; a stamped actor keeps its
 * stamp. Without an actor the input is anonymous.
 * @throws {ConversationError} invalid_request naming the field of the actor that breaks a rule
 */
export function stampActor(
  actor: Actor | StampedActor | undefined,
  channel: Channel,
  field = 'actor',
): StampedActor {
  if (actor === undefined) return { id: 'anonymous', verified: false, channel };
  checkActor(actor, field);
  const { id, name, roles } = actor;
  // Copies known fields only, so that an application may pass an object with more data about its caller (a session, its
  // token).
  const known = {
    id,
    ...(name === undefined ? {} : { name }),
    ...(roles === undefined ? {} : { roles }),
  };
  return isStamped(actor)
    ? { ...known, verified: actor.verified, channel: actor.channel }
    : { ...known, verified: channel === 'client', channel };
}

const CHANNELS: Readonly<Record<Channel, true>> = {
  ...{ api: true, client: true, temporal: true, system: true },
};

/** False for an application's own object that has a field `channel`, such as the user of a chat. */
function isStamped(actor: Actor | StampedActor): actor is StampedActor {
  const { channel, verified }: { readonly [Field in keyof StampedActor]?: unknown } = actor;
  return typeof verified === 'boolean' && typeof channel === 'string' && hasOwn(CHANNELS, channel);
}

/**
 * Refuses fields that the workflow would cut, after which an audience that names the whole id would not match the
 * actor.
 */
function checkActor(actor: Actor, named: string): void {
  const { id, name, roles }: { readonly [Field in keyof Actor]?: unknown } = actor;
  const refuse = (field: keyof Actor, problem: string): never => {
    throw invalidField(`/${named}/${field}`, problem);
  };
  if (typeof id !== 'string' || id === '') refuse('id', 'must be a non-empty string');
  else if (id.length > MAX_ACTOR_CHARS) refuse('id', tooLong(id));
  if (name !== undefined && typeof name !== 'string') refuse('name', 'must be a string');
  else if (name !== undefined && name.length > MAX_ACTOR_CHARS) refuse('name', tooLong(name));
  if (roles === undefined) return;
  if (!Array.isArray(roles) || !roles.every((role) => typeof role === 'string' && role !== ''))
    refuse('roles', 'must be a list of non-empty strings');
  else if (roles.length > MAX_ACTOR_ROLES)
    refuse('roles', `must be at most ${MAX_ACTOR_ROLES}, got ${roles.length}`);
  else {
    const long = (roles as readonly string[]).find((role) => role.length > MAX_ACTOR_CHARS);
    if (long !== undefined) refuse('roles', tooLong(long));
  }
}

function tooLong(text: string): string {
  return `must be at most ${MAX_ACTOR_CHARS} characters, got ${text.length}`;
}

function describeProblem(problem: FieldProblem): string {
  return problem.path === '' ? problem.message : `${problem.path.slice(1)} ${problem.message}`;
}

/** @throws {ConversationError} invalid_request */
export function checkNumber(
  name: string,
  value: unknown,
  { least, most }: { readonly least: number; readonly most: number },
): void {
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most)
    return;
  throw invalidField(`/${name}`, `must be a whole number from ${least} to ${most}`);
}

/** @throws {ConversationError} invalid_request for what is no cursor of a page or a frame */
export function checkCursor(field: string, value: unknown): void {
  if (value === undefined) return;
  const { generation, seq }: Partial<Record<string, unknown>> = isRecord(value) ? value : {};
  if (isWhole(generation) && generation >= 1 && isWhole(seq) && seq >= 0) return;
  throw invalidField(`/${field}`, 'must be the cursor of a page or a frame: {generation, seq}');
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

/** Undefined for a whole number from 1, at most `most`. */
export function wholeProblem(value: unknown, most = Number.MAX_SAFE_INTEGER): string | undefined {
  if (Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= most) return undefined;
  const range = most === Number.MAX_SAFE_INTEGER ? 'from 1' : `from 1 to ${most}`;
  return `must be a whole number ${range}`;
}

export const PAGE_URL_RULE =
  'must be an address such as https://agents.example.com/ui, without a slash at its end';

/** Characters that stand for themselves in a link of Markdown. */
const PAGE_URL = /^https?:\/\/[\w.:[\]-]+(?:\/[\w.~%@-]+)*$/;

/** Undefined for an address that can be linked to. */
export function pageUrlProblem(value: unknown): string | undefined {
  return typeof value === 'string' && PAGE_URL.test(value) && URL.canParse(value)
    ? undefined
    : PAGE_URL_RULE;
}

/** The rules for fields of spaces, members and messages; every entry applies them. Functions never throw. */
import { MAX_ACTOR_CHARS, MAX_REQUEST_ID_CHARS } from '../limits/limits.js';
import {
  MAX_SPACE_MESSAGE_METADATA_BYTES,
  MAX_SPACE_METADATA_BYTES,
  MAX_SPACE_METADATA_DEPTH,
  MAX_SPACE_NAME_CHARS,
  MAX_SPACE_TEXT_BYTES,
} from '../limits/service-limits.js';
import type { FieldProblem } from '../values/field-problem.js';
import { isBoundedJson, isRecord, utf8Bytes } from '../values/json.js';
import { textProblems } from '../values/well-formed.js';
import { MEMBER_KINDS, type MemberRef, parseAgentMemberId, SPACE_ACCESS } from './spaces.js';

type Checked = readonly [path: string, message: string | undefined];

/** Fields of a new space. */
export interface SpaceFields {
  readonly name: string;
  readonly access?: unknown;
  readonly metadata?: unknown;
}

export function spaceProblems({ name, access, metadata }: SpaceFields): readonly FieldProblem[] {
  return problemsOf({ name, metadata }, [
    ['/name', nameProblem(name)],
    [
      '/access',
      access === undefined || SPACE_ACCESS.some((each) => each === access)
        ? undefined
        : `must be ${SPACE_ACCESS.join(' or ')}`,
    ],
    ['/metadata', metadataProblem(metadata, MAX_SPACE_METADATA_BYTES)],
  ]);
}

/** Fields of a member besides its space. */
export function memberProblems({
  kind,
  id,
  name,
}: MemberRef & { readonly name?: string | undefined }): readonly FieldProblem[] {
  return problemsOf({ id, name }, [
    ['/kind', MEMBER_KINDS.includes(kind) ? undefined : `must be ${MEMBER_KINDS.join(' or ')}`],
    [
      '/id',
      // Also of an agent: it is the actor of the events by which others get its texts.
      keyProblem(id, MAX_ACTOR_CHARS) ??
        (kind === 'agent' && parseAgentMemberId(id) === undefined
          ? 'must be "<conversation id>~<agent>"'
          : undefined),
    ],
    ['/name', name === undefined ? undefined : nameProblem(name)],
  ]);
}

/** Fields of a message that its author gives. */
export interface MessageFields {
  readonly id: string;
  readonly kind: 'text' | 'tool';
  readonly text: string;
  readonly replyTo?: string | undefined;
  readonly metadata?: unknown;
}

export function messageProblems(fields: MessageFields): readonly FieldProblem[] {
  const { id, kind, text, replyTo, metadata } = fields;
  return problemsOf({ id, text, replyTo, metadata }, [
    ['/id', keyProblem(id, MAX_REQUEST_ID_CHARS)],
    ['/text', textProblem(text, kind)],
    [
      '/replyTo',
      replyTo === undefined
        ? undefined
        : kind === 'tool'
          ? 'must be left out: a call answers no message'
          : keyProblem(replyTo, MAX_REQUEST_ID_CHARS),
    ],
    ['/metadata', metadataProblem(metadata, MAX_SPACE_MESSAGE_METADATA_BYTES)],
  ]);
}

function problemsOf(texts: object, checked: readonly Checked[]): readonly FieldProblem[] {
  return [
    ...textProblems(texts),
    ...checked.flatMap(([path, message]) => (message === undefined ? [] : [{ path, message }])),
  ];
}

function textProblem(text: string, kind: MessageFields['kind']): string | undefined {
  if (typeof text !== 'string') return 'must be a string';
  if (text === '' && kind === 'text') return 'must not be empty';
  const bytes = utf8Bytes(text);
  return bytes > MAX_SPACE_TEXT_BYTES
    ? `must be at most ${MAX_SPACE_TEXT_BYTES} bytes, got ${bytes}`
    : undefined;
}

function nameProblem(name: string): string | undefined {
  if (typeof name !== 'string' || name.trim() === '') return 'must be a non-empty string';
  return name.length > MAX_SPACE_NAME_CHARS
    ? `must be at most ${MAX_SPACE_NAME_CHARS} characters`
    : undefined;
}

/** Keys are columns, and no text of Postgres holds a zero character. */
function keyProblem(key: string, max: number): string | undefined {
  if (typeof key !== 'string' || key === '') return 'must be a non-empty string';
  if (key.length > max) return `must be at most ${max} characters`;
  return key.includes('\0') ? 'must not hold a zero character' : undefined;
}

function metadataProblem(metadata: unknown, maxBytes: number): string | undefined {
  if (metadata === undefined) return undefined;
  if (!isRecord(metadata) || !isBoundedJson(metadata, MAX_SPACE_METADATA_DEPTH))
    return `must be an object of JSON, nested at most ${MAX_SPACE_METADATA_DEPTH} deep`;
  const bytes = utf8Bytes(JSON.stringify(metadata));
  return bytes > maxBytes ? `must be at most ${maxBytes} bytes as JSON, got ${bytes}` : undefined;
}

/**
 * Parses requests: bodies and queries by schema, path parameters by the rules of ids. Every refusal names its field.
 */
import type { Request } from 'express';
import type { z } from 'zod';
import { checkedMs } from '../../client/api/checks.js';
import { ConversationError, invalidField } from '../../client/api/errors.js';
import { MAX_WAIT_RESULT_MS } from '../../protocol/limits/service-limits.js';
import type { Duration } from '../../protocol/values/durations.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';

/** @throws {ConversationError} invalid_request with a JSON Pointer for every field that breaks a rule */
export function parseBody<Schema extends z.ZodType>(
  schema: Schema,
  request: Request,
): z.output<Schema> {
  // A request without a body counts as an empty object: `cancel` and `close` need no body.
  const parsed = schema.safeParse(request.body === undefined ? {} : request.body);
  if (parsed.success) return parsed.data;
  throw invalid(
    'The body breaks a rule',
    problemsOf(parsed.error, (path) => pointer(path)),
  );
}

/** @throws {ConversationError} invalid_request naming the query parameter */
export function parseQuery<Schema extends z.ZodType>(
  schema: Schema,
  request: Request,
): z.output<Schema> {
  const parsed = schema.safeParse(request.query);
  if (parsed.success) return parsed.data;
  throw invalid(
    'The query breaks a rule',
    problemsOf(parsed.error, (path) => `?${path.join('.')}`),
  );
}

/** Reads one page of a list, and names a refused cursor as the query does. @throws {ConversationError} that of `read` */
export async function readPage<Page>(read: () => Promise<Page>): Promise<Page> {
  try {
    return await read();
  } catch (error) {
    const [problem] = ConversationError.isInstance(error) ? (error.problems ?? []) : [];
    throw problem?.path === '/cursor' ? invalidField('?cursor', problem.message) : error;
  }
}

/**
 * The last event of a stream that the client received; newer than the `after` of the address that it first requested.
 * @throws {ConversationError} invalid_request
 */
export function lastEventIdOf<Schema extends z.ZodType>(
  request: Request,
  schema: Schema,
): z.output<Schema> | undefined {
  const header = request.get('last-event-id');
  if (header === undefined || header === '') return undefined;
  const parsed = schema.safeParse(header);
  if (parsed.success) return parsed.data;
  const message = 'must be an id that this stream has sent';
  throw new ConversationError('invalid_request', `Last-Event-ID ${message}`, {
    problems: [{ path: 'Last-Event-ID', message }],
  });
}

/** The parameters of the path. @throws {ConversationError} invalid_request naming the parameter */
export function parseParameters<Schema extends z.ZodType>(
  schema: Schema,
  request: Request,
): z.output<Schema> {
  const parsed = schema.safeParse(request.params);
  if (parsed.success) return parsed.data;
  throw invalid(
    'The path breaks a rule',
    problemsOf(parsed.error, (path) => `/${path.join('/')}`),
  );
}

export function pathParameter(request: Request, name: string): string {
  const value = request.params[name];
  return typeof value === 'string' ? value : '';
}

/** Returns `Idempotency-Key`, or the body's `requestId`. @throws {ConversationError} invalid_request if they differ */
export function requestIdOf(request: Request, inBody: string | undefined): { requestId?: string } {
  const header = request.get('idempotency-key');
  if (header === undefined) return inBody === undefined ? {} : { requestId: inBody };
  // `checkKey` has checked its form.
  if (inBody !== undefined && inBody !== header)
    throw invalidField('/requestId', 'must equal the Idempotency-Key header, or be left out');
  return { requestId: header };
}

/**
 * Milliseconds of `?timeout=20s`, or of a parameter with another name, at most 30 s: clients that wait longer use the
 * event stream. @throws {ConversationError} invalid_request naming the parameter
 */
export function timeoutOf(
  text: string | undefined,
  otherwiseMs: number,
  name: 'timeout' | 'wait' = 'timeout',
): number {
  if (text === undefined) return otherwiseMs;
  let milliseconds: number;
  try {
    milliseconds = checkedMs(name, text as Duration);
  } catch {
    throw invalidField(`?${name}`, 'must be a duration such as "20s"');
  }
  if (milliseconds > MAX_WAIT_RESULT_MS)
    throw invalidField(`?${name}`, `must be at most ${MAX_WAIT_RESULT_MS / 1000}s`);
  return milliseconds;
}

/** Returns a signal that aborts when the client disconnects, so that no wait outlives its request. */
export function goneSignal(request: Request): AbortSignal {
  const gone = new AbortController();
  request.res?.once('close', () => {
    gone.abort();
  });
  return gone.signal;
}

function invalid(message: string, problems: readonly FieldProblem[]): ConversationError {
  const [first] = problems;
  const detail =
    first === undefined ? message : `${message}: ${first.path || 'it'} ${first.message}`;
  return new ConversationError('invalid_request', detail, { problems });
}

type Path = readonly PropertyKey[];

/** Makes one problem of every unknown field, at the field's own path. */
function problemsOf(error: z.ZodError, place: (path: Path) => string): readonly FieldProblem[] {
  return error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({
          path: place([...issue.path, key]),
          message: 'is not known here',
        }))
      : [{ path: place(issue.path), message: messageOf(issue) }],
  );
}

/** Words Zod's issues as the other refusals are worded. */
function messageOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type': {
      if (issue.message.endsWith('received undefined')) return 'is required';
      const article = /^[aeiou]/.test(issue.expected) ? 'an' : 'a';
      return `must be ${article} ${issue.expected}`;
    }
    case 'too_big':
      return `must have at most ${issue.maximum} ${issue.origin === 'string' ? 'characters' : 'items'}`;
    case 'too_small':
      return issue.origin === 'string'
        ? 'must not be empty'
        : `must have at least ${issue.minimum} items`;
    case 'invalid_value':
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`;
    default:
      return issue.message;
  }
}

function pointer(path: Path): string {
  return path
    .map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
}

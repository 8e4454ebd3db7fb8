/** Refusals as the description has them. Operations that can answer the same codes share one entry of the document. */
import { FAILURES, type FailureCode } from '../../protocol/failures/failures.js';

type JsonObject = Readonly<Record<string, unknown>>;

const RETRY_AFTER: JsonObject = {
  description: 'Seconds after which a retry may succeed',
  schema: { type: 'integer', minimum: 1 },
};

const WWW_AUTHENTICATE: JsonObject = {
  description: 'The scheme of the credentials that are missing',
  schema: { type: 'string' },
};

/** A field of the document, left out where it would be empty. */
export function unlessEmpty(name: string, value: JsonObject): JsonObject {
  return Object.keys(value).length === 0 ? {} : { [name]: value };
}

/** The body of a problem with one of these codes. */
export function problemContent(codes: readonly FailureCode[]): JsonObject {
  const schema = {
    allOf: [{ $ref: '#/components/schemas/Problem' }],
    properties: { code: { enum: codes } },
  };
  return { 'application/problem+json': { schema } };
}

/** The codes in words. */
export function problemText(codes: readonly FailureCode[]): string {
  return codes.map((code) => `\`${code}\`: ${FAILURES[code].title}`).join('; ');
}

/** Headers of a problem with one of these codes; those that it always has are `required`. */
export function problemHeaders(codes: readonly FailureCode[]): JsonObject {
  return {
    ...headerOf('Retry-After', RETRY_AFTER, codes.map(isPaused)),
    ...headerOf(
      'WWW-Authenticate',
      WWW_AUTHENTICATE,
      codes.map((code) => code === 'unauthenticated'),
    ),
  };
}

/** `has`: for each code whether its problem has the header. */
function headerOf(name: string, header: JsonObject, has: readonly boolean[]): JsonObject {
  if (!has.includes(true)) return {};
  return { [name]: has.includes(false) ? header : { required: true, ...header } };
}

/** `request_running` is no refusal for a time, but the first request ends soon. */
function isPaused(code: FailureCode): boolean {
  const { httpStatus, retryable } = FAILURES[code];
  return (retryable && (httpStatus === 429 || httpStatus === 503)) || code === 'request_running';
}

/** Collects the answers with problems of all operations, each set of codes once. */
export class SharedProblems {
  readonly responses: Record<string, JsonObject> = {};

  /** Returns a reference to the answer. */
  of(status: number, codes: readonly FailureCode[]): JsonObject {
    const name = `${status}.${codes.join('.')}`;
    this.responses[name] ??= {
      description: problemText(codes),
      ...unlessEmpty('headers', problemHeaders(codes)),
      content: problemContent(codes),
    };
    return { $ref: `#/components/responses/${name}` };
  }
}

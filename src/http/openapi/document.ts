/** The description of the API in OpenAPI 3.1, made of the schemas by which requests are parsed. */
import { z } from 'zod';
import type { FailureCode } from '../../protocol/failures/failures.js';
import { MAX_REQUEST_ID_CHARS } from '../../protocol/limits/limits.js';
import { EXAMPLES } from './examples/examples.js';
import {
  problemContent,
  problemHeaders,
  problemText,
  SharedProblems,
  unlessEmpty,
} from './problems.js';
import { refusalsOf } from './refusals.js';
import { OPERATIONS, type Operation } from './rows/operations.js';
import { Problem } from './rows/shapes.js';

type JsonObject = Readonly<Record<string, unknown>>;

export interface OpenApiDocument extends JsonObject {
  readonly openapi: '3.1.0';
  readonly info: JsonObject;
  readonly paths: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;
  readonly components: JsonObject;
}

/**
 * The document that the API serves at `/openapi.json`. The routes for the codec of Temporal's UI are not in it: their
 * form is Temporal's.
 * @see https://spec.openapis.org/oas/v3.1.0
 */
export function openApiDocument(version: string): OpenApiDocument {
  const paths: Record<string, Record<string, JsonObject>> = {};
  const problems = new SharedProblems();
  for (const operation of OPERATIONS) {
    const path = operation.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [operation.method]: describe(operation, problems) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Colloquy',
      version,
      description:
        'Durable conversations of agents: messages, their answers, and calls that wait for a person, a browser or another backend.',
    },
    paths,
    components: {
      securitySchemes: {
        token: {
          ...{ type: 'http', scheme: 'bearer' },
          description: 'An API key, a JWT or a signed token; in development its secret',
        },
        session: {
          ...{ type: 'apiKey', in: 'cookie', name: '__Host-colloquy_session' },
          description:
            'Set by `POST /v1/session`; named `colloquy_session` with a development identity. Changes need the header `Origin` or `Sec-Fetch-Site`',
        },
      },
      schemas: { Problem: schemaOf(Problem, 'output') },
      responses: problems.responses,
    },
  };
}

function describe(operation: Operation, problems: SharedProblems): JsonObject {
  const { id, summary, right, takesFile } = operation;
  const parameters = [...pathParameters(operation), ...queryParameters(operation)];
  if (operation.idempotent !== undefined) parameters.push(keyOf(operation.idempotent));
  if (operation.tagged === true) parameters.push(IF_NONE_MATCH);
  return {
    operationId: id,
    summary,
    security: securityOf(right),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(takesFile === true ? { requestBody: { required: true, content: { '*/*': {} } } } : {}),
    ...bodyOf(operation),
    responses: responsesOf(operation, problems),
  };
}

/** The names in the lists are rights. */
function securityOf(right: Operation['right']): readonly JsonObject[] {
  if (right === 'open') return [];
  const rights = right === 'any' ? [] : [right];
  return [{ token: rights }, { session: rights }];
}

function keyOf(idempotent: true | 'itself'): JsonObject {
  return {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      idempotent === 'itself'
        ? 'Not needed: a repeat of the request has no further effect'
        : 'Names the request: repeats under one key are one request',
    schema: { type: 'string', minLength: 1, maxLength: MAX_REQUEST_ID_CHARS },
  };
}

const IF_NONE_MATCH: JsonObject = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The `ETag` of an earlier answer: 304 without a body if nothing has changed',
  schema: { type: 'string' },
};

function pathParameters({ path }: Operation): JsonObject[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    ...{ name, in: 'path', required: true },
    schema: { type: 'string', minLength: 1 },
  }));
}

function queryParameters({ query }: Operation): JsonObject[] {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = schemaOf(query, 'input') as {
    readonly properties?: JsonObject;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    ...{ name, in: 'query', required: required.includes(name) },
    schema,
  }));
}

/** An empty body counts as an empty object, so a body is required only where it must have a field. */
function bodyOf({ id, bodies }: Operation): JsonObject {
  if (bodies === undefined) return {};
  const schemas = bodies.map((body) => schemaOf(body, 'input'));
  const isRequired = bodies.every((body) => !body.safeParse({}).success);
  const schema = schemas.length === 1 ? schemas[0] : { anyOf: schemas };
  const named = Object.entries(EXAMPLES[id]?.bodies ?? {});
  const examples = Object.fromEntries(named.map(([name, value]) => [name, { value }]));
  const json = { schema, ...unlessEmpty('examples', examples) };
  return { requestBody: { required: isRequired, content: { 'application/json': json } } };
}

/** Every status that the operation can answer; there is no `default`, behind which others could hide. */
function responsesOf(operation: Operation, problems: SharedProblems): JsonObject {
  const refusals = refusalsOf(operation);
  const responses: Record<string, JsonObject> = {};
  for (const [status, codes] of refusals) responses[status] = problems.of(status, codes);
  for (const status of Object.keys(operation.answers).map(Number))
    responses[status] = answerOf(operation, status, refusals.get(status) ?? []);
  return responses;
}

/** An answer of the operation's own form; a problem with the same status stands beside it. */
function answerOf(operation: Operation, status: number, codes: readonly FailureCode[]): JsonObject {
  const own = DESCRIPTIONS[status] ?? 'Done';
  const problem = codes.length === 0 ? {} : problemContent(codes);
  return {
    description: codes.length === 0 ? own : `${own}; or ${problemText(codes)}`,
    ...unlessEmpty('headers', { ...headersOf(operation, status), ...problemHeaders(codes) }),
    ...unlessEmpty('content', { ...contentOf(operation, status), ...problem }),
  };
}

function headersOf({ tagged, located }: Operation, status: number): JsonObject {
  return {
    ...(tagged === true && (status === 200 || status === 304) ? { ETag: ETAG } : {}),
    ...(located === true && status < 300 ? { Location: LOCATION } : {}),
  };
}

const ETAG: JsonObject = {
  ...{ required: true, schema: { type: 'string' } },
  description: 'Names the content, for `If-None-Match`',
};

const LOCATION: JsonObject = {
  ...{ required: true, schema: { type: 'string' } },
  description: 'The address of the thing that the request has made',
};

/** Without a schema: readers of the description differ on whether it is one of the whole stream or of an event. */
const EVENTS: JsonObject = { 'text/event-stream': {} };

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  '201': 'Made',
  '202': 'Taken; the rest follows',
  '206': 'A part',
  '304': 'Not changed',
  '403': 'Refused: not in the audience',
  '404': 'Not known',
  '409': 'Too late, or not yet',
  '410': 'Expired',
  '416': 'No such part',
  '422': 'Invalid',
  '503': 'Not available now',
};

function contentOf({ id, answers, streams }: Operation, status: number): JsonObject {
  const answer = answers[status];
  if (answer === undefined || answer === 'none') return {};
  if (answer === 'file') return { '*/*': {} };
  if (answer === 'stream') return EVENTS;
  const example = EXAMPLES[id]?.answers?.[status];
  const shown = example === undefined ? {} : { example };
  const json = { 'application/json': { schema: schemaOf(answer, 'output'), ...shown } };
  return streams === true ? { ...json, ...EVENTS } : json;
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): JsonObject {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}

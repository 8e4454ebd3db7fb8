/** The description of the API in OpenAPI 3.1, made of the schemas by which requests are parsed. */
import { z } from 'zod';
import { MAX_REQUEST_ID_CHARS } from '../../protocol/limits/limits.js';
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
  for (const operation of OPERATIONS) {
    const path = operation.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [operation.method]: describe(operation) };
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
      responses: {
        Problem: {
          description: 'A problem (RFC 9457); `code` is stable',
          content: { 'application/problem+json': PROBLEM },
        },
      },
    },
  };
}

const PROBLEM = { schema: { $ref: '#/components/schemas/Problem' } };

function describe(operation: Operation): JsonObject {
  const { id, summary, right, bodies, takesFile } = operation;
  const parameters = [...pathParameters(operation), ...queryParameters(operation)];
  if (operation.idempotent !== undefined) parameters.push(keyOf(operation.idempotent));
  if (operation.tagged === true) parameters.push(IF_NONE_MATCH);
  return {
    operationId: id,
    summary,
    security: securityOf(right),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(takesFile === true ? { requestBody: { required: true, content: { '*/*': {} } } } : {}),
    ...(bodies === undefined ? {} : { requestBody: bodyOf(bodies) }),
    responses: { ...answersOf(operation), default: { $ref: '#/components/responses/Problem' } },
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
function bodyOf(bodies: readonly z.ZodType[]): JsonObject {
  const schemas = bodies.map((body) => schemaOf(body, 'input'));
  const isRequired = bodies.every((body) => !body.safeParse({}).success);
  const schema = schemas.length === 1 ? schemas[0] : { anyOf: schemas };
  return { required: isRequired, content: { 'application/json': { schema } } };
}

function answersOf({ answers, streams }: Operation): JsonObject {
  return Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => [
      status,
      { description: DESCRIPTIONS[status] ?? 'Done', ...contentOf(status, answer, streams) },
    ]),
  );
}

/** Without a schema: readers of the description differ on whether it is one of the whole stream or of an event. */
const EVENTS: JsonObject = { 'text/event-stream': {} };

const DESCRIPTIONS: Readonly<Record<string, string>> = {
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

function contentOf(
  status: string,
  answer: Operation['answers'][number],
  streams: true | undefined,
): JsonObject {
  if (answer === 'none') return {};
  if (answer === 'file') return { content: { '*/*': {} } };
  if (answer === 'stream') return { content: EVENTS };
  const content: Record<string, unknown> = {
    'application/json': { schema: schemaOf(answer, 'output') },
  };
  if (streams === true) Object.assign(content, EVENTS);
  // The request itself may be invalid, or its target unknown, before a verdict is reached.
  if (Number(status) >= 400 && status !== '503') content['application/problem+json'] = PROBLEM;
  return { content };
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): JsonObject {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}

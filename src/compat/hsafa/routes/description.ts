/** The description of the routes of `hsafaRoutes` in OpenAPI 3.1, which they serve at `/api/openapi.json`. */
import { z } from 'zod';

type JsonObject = Readonly<Record<string, unknown>>;

export interface HsafaDescription extends JsonObject {
  readonly openapi: '3.1.0';
  readonly paths: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;
}

/** The routes that a router has beside those of runs and triggers. */
export interface Described {
  readonly offers: boolean;
  readonly agents: boolean;
  readonly toolbox: boolean;
  readonly servers: boolean;
}

interface Route {
  readonly method: 'delete' | 'get' | 'post' | 'put';
  /** With `{parameters}`. */
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  readonly right: 'admin' | 'answer' | 'read' | 'send';
  readonly parameters?: readonly JsonObject[];
  readonly body?: z.ZodType;
  /** Answers by status: a schema of JSON, or the description of one that has none. */
  readonly answers: Readonly<Record<number, z.ZodType | string>>;
}

const text = z.string();
const Fault = z.object({ error: text, code: text.optional().describe('of a failure of the API') });
const ResultFault = Fault.extend({
  problems: z.array(z.object({ path: text, message: text })).optional(),
});
const DocumentFault = Fault.extend({
  problems: z.array(z.object({ field: text, rule: text })).optional(),
});
const Taken = z.object({
  success: z.literal(true),
  agentEntityId: text.describe('the conversation'),
  queued: z.literal(true).optional().describe('the next worker judges it'),
});
const Triggered = Taken.extend({ eventId: text.describe('of the event in the inbox') });
const Document = z.looseObject({ name: text }).describe('in the form of the Hsafa gateway');
const Stored = z.object({
  name: text,
  version: z.int().min(1),
  document: Document,
  changedAt: z.iso.datetime(),
});
const Put = Stored.extend({
  warnings: z.array(z.object({ path: text, message: text })).describe('choices of the document'),
});
const Deleted = z.object({ deleted: z.literal(true) });

const LAST_EVENT_ID = header('Last-Event-ID', 'The id of the last event that was read');
/** Refusals of every route: of the caller, and of the server. */
const ALWAYS = { 401: Fault, 403: Fault, 500: Fault, 503: Fault };

const RUNS: readonly Route[] = [
  {
    ...{ method: 'post', path: '/api/runs/{runId}/tool-results', id: 'submitToolResult' },
    ...{ summary: 'The result of a call of a run', right: 'answer' },
    parameters: [header('Idempotency-Key', 'Repeats under one key have the first answer')],
    body: z.object({ callId: text.min(1), result: z.unknown() }),
    answers: {
      200: Taken,
      202: Taken,
      400: ResultFault,
      404: Fault,
      409: Fault,
      413: Fault,
      429: Fault,
    },
  },
  {
    ...{ method: 'get', path: '/api/runs/{runId}/stream', id: 'streamRun' },
    ...{ summary: 'The events of a run', right: 'read' },
    parameters: [LAST_EVENT_ID],
    answers: {
      200: 'Events of the conversation',
      204: 'The end was read',
      400: Fault,
      404: Fault,
      429: Fault,
    },
  },
];

const TRIGGERS: readonly Route[] = [
  {
    ...{ method: 'post', path: '/api/agents/{agentId}/trigger', id: 'triggerAgent' },
    ...{ summary: 'An event of a service, which wakes the agent', right: 'send' },
    parameters: [header('Idempotency-Key', 'Requests under one key are one event')],
    body: z.strictObject({
      serviceName: text.min(1).max(200),
      payload: z.unknown(),
      agent: text.optional().describe('begins the conversation where there is none'),
    }),
    answers: {
      200: Triggered,
      202: Triggered,
      400: ResultFault,
      404: Fault,
      409: Fault,
      410: Fault,
      413: Fault,
      429: Fault,
    },
  },
];

const OFFERS: readonly Route[] = [
  {
    ...{ method: 'get', path: '/api/tools/stream', id: 'streamToolCalls' },
    ...{ summary: 'Open calls of tools, as `tool.call` events', right: 'answer' },
    parameters: [
      {
        ...{ name: 'tools', in: 'query', required: true, schema: { type: 'string' } },
        description: 'Names of 1 to 100 tools, separated by commas',
      },
      LAST_EVENT_ID,
    ],
    answers: { 200: 'Calls', 400: Fault, 429: Fault },
  },
];

function documentRoutes(
  kind: 'Agent' | 'Tool' | 'Server',
  path: string,
  listed: string,
): readonly Route[] {
  const one = `${path}/{name}`;
  return [
    {
      ...{ method: 'get', path, id: `list${kind}Documents`, right: 'admin' },
      summary:
        kind === 'Agent'
          ? 'The agents of the tenant that change at run time'
          : 'The documents of an agent that change at run time',
      answers: { 200: z.object({ [listed]: z.array(Stored) }), 400: Fault },
    },
    {
      ...{ method: 'put', path: one, id: `put${kind}Document`, right: 'admin' },
      summary: 'Stores a document, or its next version, for the model calls that follow',
      body: Document,
      answers: { 200: Put, 400: DocumentFault, 413: Fault },
    },
    {
      ...{ method: 'delete', path: one, id: `delete${kind}Document`, right: 'admin' },
      summary: 'Deletes a document',
      answers: { 200: Deleted, 400: Fault, 404: Fault },
    },
  ];
}

/** The routes of a router, as it was configured. */
export function hsafaDescription(of: Described): HsafaDescription {
  const routes = [
    ...RUNS,
    ...TRIGGERS,
    ...(of.offers ? OFFERS : []),
    ...(of.agents ? documentRoutes('Agent', '/api/agents', 'agents') : []),
    ...(of.toolbox ? documentRoutes('Tool', '/api/agents/{agent}/tools', 'tools') : []),
    ...(of.servers ? documentRoutes('Server', '/api/agents/{agent}/mcp-servers', 'servers') : []),
  ];
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const route of routes)
    paths[route.path] = { ...paths[route.path], [route.method]: operationOf(route) };
  return {
    openapi: '3.1.0',
    info: {
      ...{ title: 'Colloquy, in the form of the Hsafa gateway', version: '1' },
      description: 'Results and events of runs, calls of tools, and documents of agents.',
    },
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer' },
        secretKey: { type: 'apiKey', in: 'header', name: 'x-secret-key' },
      },
    },
  };
}

function operationOf({ id, summary, right, path, parameters = [], body, answers }: Route) {
  const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    ...{ name, in: 'path', required: true, schema: { type: 'string', minLength: 1 } },
  }));
  const tenant = {
    ...{ name: 'tenant', in: 'query', schema: { type: 'string' } },
    description: 'One of the tenants of the caller. Absent: the first',
  };
  return {
    ...{ operationId: id, summary, security: [{ token: [right] }, { secretKey: [right] }] },
    parameters: [...named, ...parameters, tenant],
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: jsonOf(body, 'input') } }),
    responses: Object.fromEntries(
      Object.entries({ ...answers, ...ALWAYS }).map(([status, answer]) => [
        status,
        responseOf(Number(status), answer),
      ]),
    ),
  };
}

const WORDS: Readonly<Record<number, string>> = {
  ...{ 200: 'Done', 202: 'Recorded', 400: 'A field breaks a rule', 401: 'No valid credentials' },
  ...{ 403: 'Not for this caller', 404: 'Not found', 409: 'Not in this state' },
  ...{
    410: 'Closed or deleted',
    413: 'The body is too large',
    429: 'Too many requests',
    500: 'A failure of the service',
  },
  503: 'Not at the moment: try again',
};

function responseOf(status: number, answer: z.ZodType | string): JsonObject {
  if (typeof answer !== 'string')
    return { description: WORDS[status] ?? '', content: jsonOf(answer, 'output') };
  // Without a schema: readers of the description differ on whether it is one of the whole stream or of an event.
  return {
    description: answer,
    ...(status === 204 ? {} : { content: { 'text/event-stream': {} } }),
  };
}

function jsonOf(schema: z.ZodType, io: 'input' | 'output'): JsonObject {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io });
  return { 'application/json': { schema: rest } };
}

function header(name: string, description: string): JsonObject {
  return { name, in: 'header', description, schema: { type: 'string' } };
}

/** `httpTool`: a tool that is an HTTP request. To the engine it is a server tool like any other. Runs anywhere. */

import type { Effects } from '../protocol/calls/executors.js';
import {
  DEFAULT_HTTP_RESPONSE_BYTES,
  MAX_HTTP_REDIRECTS,
} from '../protocol/limits/service-limits.js';
import { isRecord } from '../protocol/values/json.js';
import { checkKeys, DefinitionError, ProblemList, shown, type Untyped } from './checks/problems.js';
import { checkWellFormed } from './checks/well-formed.js';
import { defineTool } from './define-tool.js';
import { checkHttpFields } from './http/rules.js';
import type { HttpToolSpec } from './http/spec.js';
import { inputJsonSchema, type RawSchema, type Schema, schemaProblem } from './schemas/schema.js';
import type { UntypedServices } from './tool/context.js';
import type { HttpMethod, HttpPlan } from './tool/http-plan.js';
import type { AnyTool, Tool, ToolOf, Unshaped } from './tool/types.js';
import { parseUrlTemplate } from './tool/url-template.js';
import { FIELDS } from './tool-rules/fields.js';

const HTTP_FIELDS = [
  ...['method', 'url', 'query', 'fixedQuery', 'body', 'bodyType', 'headers', 'idempotencyHeader'],
  ...['response', 'okStatuses', 'result', 'error', 'maxResponseBytes', 'maxRedirects'],
  ...['allowPrivate', 'proxy'],
];
/** Fields that an HTTP tool cannot have: the request takes the place of `run`, and has no progress. */
const NOT_TAKEN: readonly string[] = ['run', 'executor', 'streaming', 'executesFully'];
const SERVER_FIELDS = FIELDS.server.filter((field) => !NOT_TAKEN.includes(field));

/**
 * Effects of a second request by method, as HTTP defines them. @see
 * https://www.rfc-editor.org/rfc/rfc9110#section-9.2.2
 */
const EFFECTS: ReadonlyMap<unknown, Effects> = new Map<HttpMethod, Effects>([
  ['GET', 'none'],
  ['HEAD', 'none'],
  ['PUT', 'idempotent'],
  ['DELETE', 'idempotent'],
  ['POST', 'once'],
  ['PATCH', 'once'],
]);

/**
 * Declares a tool that is an HTTP request; see `HttpToolSpec` for the fields and `docs/http-tools.md` for what the
 * model reads.
 * @throws {DefinitionError} invalid_definition with every broken rule of the definition.
 * @example httpTool({ name: 'orders.find', description: 'Finds an order.', input: z.object({ orderId: z.string() }),
 * method: 'GET', url: 'https://api.example.com/orders/{orderId}', headers: { authorization: secret('ORDERS_TOKEN', {
 * prefix: 'Bearer ' }) }, });
 */
export function httpTool<
  Services = UntypedServices,
  Input extends Schema = Schema,
  Output extends Schema = RawSchema,
  const Name extends string = string,
>(
  spec: HttpToolSpec<Services, Input, Output> & { readonly name: Name },
): ToolOf<Services, Input, Output, { name: Name; executor: 'server'; shaped: Unshaped }> {
  return compileHttpTool(spec) as Tool<Services> as never;
}

function compileHttpTool(spec: unknown): AnyTool {
  if (!isRecord(spec)) {
    const rule = `must be an object, got ${shown(spec)}`;
    throw new DefinitionError('a tool', [{ field: '', rule }]);
  }
  const problems = new ProblemList();
  checkKeys(problems, spec, { prefix: '', allowed: [...SERVER_FIELDS, ...HTTP_FIELDS] });
  // `defineTool` checks the others.
  checkWellFormed(problems, spec, SERVER_FIELDS);
  const { input } = spec;
  const schema =
    schemaProblem(input) === undefined ? inputJsonSchema(input as Schema).jsonSchema : {};
  checkHttpFields(spec, schema, problems);
  const tool = serverTool(spec, problems);
  problems.throwIfAny(`tool ${shown(spec['name'])}`);
  if (tool === undefined) throw new TypeError('unreachable: its faults were thrown');
  return Object.freeze({ ...tool, http: planOf(spec) });
}

/** Defines a server tool with the same fields and without code; adds its faults to the others. */
function serverTool(spec: Untyped, problems: ProblemList): AnyTool | undefined {
  const fields = Object.fromEntries(SERVER_FIELDS.map((field) => [field, spec[field]]));
  const effects = spec['effects'] ?? EFFECTS.get(spec['method']);
  // Responses of a service are under foreign control.
  const provenance = spec['provenance'] ?? 'untrusted';
  try {
    const tool: AnyTool = defineTool({ ...fields, effects, provenance, run: noCode } as never);
    const { run: _run, ...rest } = tool;
    return rest;
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    for (const { field, rule } of error.problems) problems.add(field, rule);
    return undefined;
  }
}

/** Placeholder for the code that a server tool must have. */
function noCode(): void {}

/** The plan of a spec that was validated before. */
function planOf(spec: unknown): HttpPlan {
  const given = spec as HttpToolSpec<never, Schema, Schema>;
  const { method, url, query, body, idempotencyHeader } = given;
  const parsed = parseUrlTemplate(url);
  if (!parsed.ok) throw new Error('unreachable: the URL was judged before');
  const takesBody = method === 'POST' || method === 'PUT' || method === 'PATCH';
  const isSafe = method === 'GET' || method === 'HEAD';
  const header = idempotencyHeader ?? (isSafe ? false : 'Idempotency-Key');
  return {
    method,
    url: parsed.template,
    query: query ?? (takesBody ? undefined : 'rest'),
    fixedQuery: { ...given.fixedQuery },
    body: body ?? (takesBody ? 'rest' : undefined),
    bodyType: given.bodyType ?? 'json',
    headers: { ...given.headers },
    idempotencyHeader: header === false ? undefined : header,
    response: given.response ?? 'json',
    okStatuses: given.okStatuses,
    result: given.result ?? '',
    error: given.error,
    maxResponseBytes: given.maxResponseBytes ?? DEFAULT_HTTP_RESPONSE_BYTES,
    maxRedirects: given.maxRedirects ?? MAX_HTTP_REDIRECTS,
    allowPrivate: given.allowPrivate ?? [],
    proxy: given.proxy,
  };
}

/**
 * The rules of `httpTool`'s own fields; those of a server tool are in `tool-rules`. Every broken one is reported. Runs
 * anywhere.
 */

import { MAX_BLOB_BYTES, MAX_HTTP_REDIRECTS } from '../../protocol/limits/service-limits.js';
import { isRecord, type JsonSchema } from '../../protocol/values/json.js';
import { type ProblemList, shown, type Untyped } from '../checks/problems.js';
import { HTTP_METHODS } from '../tool/http-plan.js';
import { parseUrlTemplate } from '../tool/url-template.js';
import { checkAllowPrivate } from './addresses.js';

/** @see https://www.rfc-editor.org/rfc/rfc9110#section-5.1 */
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Printable Latin-1 and tabs: line ends would begin another header. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Headers of the connection, or set from the request itself. */
const RESERVED_HEADERS: readonly string[] = [
  ...['host', 'content-length', 'transfer-encoding', 'connection', 'keep-alive', 'upgrade', 'te'],
  ...['trailer', 'expect', 'proxy-authorization', 'proxy-connection', 'accept-encoding'],
];
const SECRET_HEADERS: readonly string[] = ['authorization', 'cookie'];
const ENUMS: Readonly<Record<string, readonly string[]>> = {
  method: HTTP_METHODS,
  bodyType: ['json', 'form'],
  response: ['json', 'text', 'auto'],
};

function isSecret(value: unknown): boolean {
  return isRecord(value) && value['kind'] === 'secret';
}

/** True for a text that can be sent as a header's value. */
export function isHeaderValue(value: string): boolean {
  return HEADER_VALUE.test(value);
}

/** Adds every fault of the fields that make the request; `input` is the JSON Schema of the tool's input. */
export function checkHttpFields(spec: Untyped, input: JsonSchema, problems: ProblemList): void {
  for (const [field, allowed] of Object.entries(ENUMS)) {
    const value = spec[field];
    if (value === undefined && field !== 'method') continue;
    if (!allowed.includes(value as string))
      problems.add(field, `must be one of ${allowed.join(', ')}, got ${shown(value)}`);
  }
  if (spec['mode'] === 'detach')
    problems.add('mode', 'an HTTP tool is answered by its own request, so it cannot be detached');
  checkPlaces(spec, input, problems);
  checkHeaders(spec['headers'], problems);
  checkFixedQuery(spec['fixedQuery'], problems);
  const { idempotencyHeader } = spec;
  if (idempotencyHeader !== undefined && idempotencyHeader !== false)
    problems.addIf('idempotencyHeader', headerNameProblem(idempotencyHeader));
  checkAnswerFields(spec, problems);
  checkReach(spec, problems);
}

/** Checks the places of the input's fields: each goes into URL, query or body. */
function checkPlaces(spec: Untyped, input: JsonSchema, problems: ProblemList): void {
  const { url, query, body, method, bodyType } = spec;
  const parsed = parseUrlTemplate(url);
  if (!parsed.ok) for (const rule of parsed.problems) problems.add('url', rule);
  const params = parsed.ok ? parsed.template.params : [];
  const fields = Object.keys(isRecord(input['properties']) ? input['properties'] : {});
  // A schema without properties does not name its fields.
  const known = fields.length === 0 && input['additionalProperties'] !== false ? undefined : fields;
  for (const param of params) problems.addIf('url', paramProblem(param, input));
  checkFieldList({ field: 'query', value: query }, known, problems);
  checkFieldList({ field: 'body', value: body }, known, problems);
  if (body !== undefined && (method === 'GET' || method === 'HEAD'))
    problems.add('body', `a ${method} request has none; use query`);
  const hasBody = body !== undefined || method === 'POST' || method === 'PUT' || method === 'PATCH';
  if (bodyType !== undefined && !hasBody) problems.add('bodyType', 'there is no body');
  const place = hasBody && method !== 'DELETE' ? body : query;
  if (known === undefined || place === undefined) return;
  if (typeof query === 'function' || typeof body === 'function') return;
  const used = [...params, ...listed(query), ...listed(body)];
  // A field without a place would be requested of the model for nothing.
  const lost = known.filter((field) => !used.includes(field));
  if (lost.length > 0)
    problems.add('input', `no place in the request takes the fields ${lost.join(', ')}`);
}

function listed(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function paramProblem(param: string, input: JsonSchema): string | undefined {
  const { properties, required } = input;
  if (!isRecord(properties)) return undefined;
  const field = properties[param];
  if (field === undefined) return `{${param}} is not a field of input`;
  const hasDefault = isRecord(field) && 'default' in field;
  const isThere = Array.isArray(required) && required.includes(param);
  return isThere || hasDefault ? undefined : `{${param}} must be a required field of input`;
}

function checkFieldList(
  given: { readonly field: 'query' | 'body'; readonly value: unknown },
  known: readonly string[] | undefined,
  problems: ProblemList,
): void {
  const { field, value } = given;
  if (value === undefined || typeof value === 'function') return;
  if (!Array.isArray(value)) {
    problems.add(field, `must be a list of input fields or a function, got ${shown(value)}`);
    return;
  }
  for (const name of value as readonly unknown[])
    if (typeof name !== 'string' || known?.includes(name) === false)
      problems.add(field, `${shown(name)} is not a field of input`);
}

function headerNameProblem(name: unknown): string | undefined {
  if (typeof name !== 'string' || !HEADER_NAME.test(name))
    return `must be the name of a header, got ${shown(name)}`;
  return RESERVED_HEADERS.includes(name.toLowerCase())
    ? `"${name}" is set by the request itself`
    : undefined;
}

function checkHeaders(headers: unknown, problems: ProblemList): void {
  if (headers === undefined) return;
  if (!isRecord(headers)) {
    problems.add('headers', `must be an object, got ${shown(headers)}`);
    return;
  }
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(headers)) {
    const field = `headers.${name}`;
    const lower = name.toLowerCase();
    problems.addIf(field, headerNameProblem(name));
    if (seen.has(lower)) problems.add(field, 'stands there twice');
    seen.add(lower);
    if (isSecret(value)) checkSecret(field, value, problems);
    else if (typeof value === 'string') {
      if (!isHeaderValue(value)) problems.add(field, 'must be printable Latin-1 on one line');
      if (SECRET_HEADERS.includes(lower))
        problems.add(field, 'must be secret(...): a definition must not contain credentials');
    } else if (typeof value !== 'function')
      problems.add(field, `must be a text, secret(...) or a function, got ${shown(value)}`);
  }
}

function checkFixedQuery(query: unknown, problems: ProblemList): void {
  if (query === undefined) return;
  if (!isRecord(query)) {
    problems.add('fixedQuery', `must be an object, got ${shown(query)}`);
    return;
  }
  for (const [name, value] of Object.entries(query)) {
    const field = `fixedQuery.${name}`;
    if (isSecret(value)) checkSecret(field, value, problems);
    else if (typeof value !== 'string')
      problems.add(field, `must be a text or secret(...), got ${shown(value)}`);
  }
}

function checkSecret(field: string, value: unknown, problems: ProblemList): void {
  const { source, prefix } = value as Readonly<Record<string, unknown>>;
  const isName = typeof source === 'string' && /^[A-Za-z_][A-Za-z0-9_]*$/.test(source);
  if (!isName && typeof source !== 'function')
    problems.add(
      field,
      `secret(...) takes the name of an environment variable or a function, got ${shown(source)}`,
    );
  if (typeof prefix !== 'string' || !isHeaderValue(prefix))
    problems.add(field, 'the prefix of a secret must be printable Latin-1 on one line');
}

function checkAnswerFields(spec: Untyped, problems: ProblemList): void {
  const { okStatuses, maxResponseBytes, maxRedirects } = spec;
  if (okStatuses !== undefined && !isStatusList(okStatuses))
    problems.add('okStatuses', 'must be a list of statuses from 200 to 599');
  for (const field of ['result', 'error']) {
    const value = spec[field];
    if (value === undefined || typeof value === 'function' || isPointer(value)) continue;
    const rule = 'must be a JSON Pointer such as "/data/items", or a function';
    problems.add(field, `${rule}, got ${shown(value)}`);
  }
  if (spec['response'] === 'text' && typeof spec['result'] === 'string' && spec['result'] !== '')
    problems.add('result', 'a pointer needs response "json"');
  checkWhole('maxResponseBytes', [maxResponseBytes, 1, MAX_BLOB_BYTES], problems);
  checkWhole('maxRedirects', [maxRedirects, 0, MAX_HTTP_REDIRECTS], problems);
}

function isStatusList(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((it: unknown) => Number.isInteger(it) && Number(it) >= 200 && Number(it) <= 599)
  );
}

/** @see https://www.rfc-editor.org/rfc/rfc6901 */
function isPointer(value: unknown): boolean {
  return typeof value === 'string' && /^(?:\/(?:[^~]|~[01])*)?$/s.test(value);
}

function checkWhole(
  field: string,
  [value, min, max]: readonly [unknown, number, number],
  problems: ProblemList,
): void {
  if (value === undefined) return;
  if (!Number.isInteger(value) || Number(value) < min || Number(value) > max)
    problems.add(field, `must be a whole number from ${min} to ${max}, got ${shown(value)}`);
}

function checkReach({ allowPrivate, proxy }: Untyped, problems: ProblemList): void {
  checkAllowPrivate(allowPrivate, problems);
  if (isSecret(proxy)) checkSecret('proxy', proxy, problems);
  else if (proxy !== undefined && proxy !== 'environment')
    problems.addIf('proxy', proxyProblem(proxy));
}

function proxyProblem(proxy: unknown): string | undefined {
  const parts = typeof proxy === 'string' ? /^https?:\/\/([^/?#]+)\/?$/i.exec(proxy) : null;
  if (parts === null)
    return `must be "environment", secret(...) or an address such as http://proxy:3128, got ${shown(proxy)}`;
  return parts[1]?.includes('@') === true
    ? 'has a password: give the whole address by secret(...)'
    : undefined;
}

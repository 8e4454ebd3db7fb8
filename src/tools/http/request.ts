/**
 * Builds the request from a tool's input. Values that could change its meaning are rejected here. Runs in the worker.
 */
import { createHash } from 'node:crypto';
import { isHeaderValue } from '../../define/http/rules.js';
import type { CallContext } from '../../define/tool/context.js';
import type { FieldSource, HttpPlan } from '../../define/tool/http-plan.js';
import { fillUrl, plainText } from '../../define/tool/url-template.js';
import { isRecord, type Json } from '../../protocol/values/json.js';
import { toJson } from '../shared/normalise.js';
import { HttpProblem } from './problem.js';
import type { Secrets } from './secrets.js';

export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  /** Names in lower case. All but `accept` and `user-agent` are for the first origin only. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

const ACCEPT: Readonly<Record<HttpPlan['response'], string>> = {
  json: 'application/json, application/*+json;q=0.9',
  text: 'text/*, */*;q=0.5',
  auto: 'application/json, text/*;q=0.9, */*;q=0.5',
};
/** Some services reject longer keys. */
const KEY = /^[\x21-\x7e]{1,255}$/;

/** @throws {HttpProblem} for input that cannot be sent, and for missing secrets */
export async function requestOf(
  plan: HttpPlan,
  input: Json,
  deps: { readonly ctx: CallContext<never>; readonly secrets: Secrets },
): Promise<HttpRequest> {
  const fields: Readonly<Record<string, unknown>> = isRecord(input) ? input : {};
  const body = bodyOf(plan, fields);
  const headers = { ...(await headersOf(plan, fields, deps)), ...body.headers };
  return {
    method: plan.method,
    url: await urlOf(plan, fields, deps.secrets),
    headers,
    body: body.text,
  };
}

async function urlOf(
  plan: HttpPlan,
  fields: Readonly<Record<string, unknown>>,
  secrets: Secrets,
): Promise<URL> {
  const filled = fillUrl(plan.url, fields);
  if (!filled.ok) throw new HttpProblem(`The request was not sent: ${filled.problem}`);
  const url = new URL(`${plan.url.origin}${filled.path}`);
  // Template and values were validated; this confirms that the URL parser understood both in the same way.
  if (url.origin !== new URL(plan.url.origin).origin || url.pathname !== filled.path)
    throw new HttpProblem('The request was not sent: its values would change where the URL points');
  const query = queryOf(valuesOf(plan.query, fields, usedBy(plan, 'query')), 'query');
  for (const [name, value] of Object.entries(plan.fixedQuery)) {
    const isFixed = typeof value === 'string';
    query.append(name, isFixed ? value : await secrets.resolve(value, `query "${name}"`));
  }
  const pairs = [filled.query, query.toString()].filter((text) => text !== '');
  if (pairs.length > 0) url.search = `?${pairs.join('&')}`;
  return url;
}

/** Fields that another place uses, so that the rest does not contain them. */
function usedBy(plan: HttpPlan, place: 'query' | 'body'): readonly string[] {
  const other = place === 'query' ? plan.body : plan.query;
  return [...plan.url.params, ...(Array.isArray(other) ? (other as readonly string[]) : [])];
}

function valuesOf(
  source: FieldSource | undefined,
  fields: Readonly<Record<string, unknown>>,
  used: readonly string[],
): unknown {
  if (source === undefined) return {};
  if (typeof source === 'function') return source(fields as never);
  const names =
    source === 'rest' ? Object.keys(fields).filter((name) => !used.includes(name)) : source;
  return Object.fromEntries(
    names.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]]),
  );
}

/** A list repeats its name; null and absent values are left out. */
function queryOf(values: unknown, place: 'query' | 'body'): URLSearchParams {
  if (!isRecord(values)) throw notSent(`the function for the ${place} did not return an object`);
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || value === null) continue;
    for (const item of Array.isArray(value) ? (value as readonly unknown[]) : [value]) {
      const text = plainText(item);
      if (text === undefined)
        throw notSent(`${name} must be a text, a number, a truth value or a list of them`);
      pairs.append(name, text);
    }
  }
  return pairs;
}

function bodyOf(
  plan: HttpPlan,
  fields: Readonly<Record<string, unknown>>,
): { readonly text: string | undefined; readonly headers: Readonly<Record<string, string>> } {
  if (plan.body === undefined) return { text: undefined, headers: {} };
  const values = valuesOf(plan.body, fields, usedBy(plan, 'body'));
  if (plan.bodyType === 'form')
    return {
      text: queryOf(values, 'body').toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    };
  return {
    text: JSON.stringify(toJson(values)),
    headers: { 'content-type': 'application/json' },
  };
}

async function headersOf(
  plan: HttpPlan,
  fields: Readonly<Record<string, unknown>>,
  { ctx, secrets }: { readonly ctx: CallContext<never>; readonly secrets: Secrets },
): Promise<Record<string, string>> {
  const headers: Record<string, string> = {
    accept: ACCEPT[plan.response],
    'user-agent': 'colloquy',
  };
  const { idempotencyHeader } = plan;
  if (idempotencyHeader !== undefined)
    headers[idempotencyHeader.toLowerCase()] = keyOf(ctx.idempotencyKey);
  for (const [name, header] of Object.entries(plan.headers)) {
    const value: unknown =
      typeof header === 'function'
        ? header(fields, ctx)
        : typeof header === 'string'
          ? header
          : await secrets.resolve(header, `header "${name}"`);
    if (typeof value !== 'string' || !isHeaderValue(value))
      throw notSent(`header "${name}" must be printable Latin-1 on one line`);
    headers[name.toLowerCase()] = value;
  }
  return headers;
}

/** The key itself if a header can hold it, else its digest: the same in every attempt. */
function keyOf(key: string): string {
  return KEY.test(key) ? key : createHash('sha256').update(key).digest('hex');
}

function notSent(rule: string): HttpProblem {
  return new HttpProblem(`The request was not sent: ${rule}`);
}

/** The part of an `httpTool` that the worker needs to make the request. */
import type { CallContext, UntypedServices } from './context.js';
import type { UrlTemplate } from './url-template.js';

/** `rest`: all fields of the input that have no other place. */
export type FieldSource = 'rest' | readonly string[] | ((input: never) => unknown);

/** Description of the request, already validated. Part of a `Tool`, never recorded. */
export interface HttpPlan {
  readonly method: HttpMethod;
  readonly url: UrlTemplate;
  readonly query: FieldSource | undefined;
  readonly fixedQuery: Readonly<Record<string, string | Secret<never>>>;
  readonly body: FieldSource | undefined;
  readonly bodyType: 'json' | 'form';
  readonly headers: Readonly<Record<string, HttpHeader<never, unknown>>>;
  readonly idempotencyHeader: string | undefined;
  readonly response: 'json' | 'text' | 'auto';
  readonly okStatuses: readonly number[] | undefined;
  readonly result: string | ((answer: never) => unknown);
  readonly error: string | ((answer: never) => unknown) | undefined;
  readonly maxResponseBytes: number;
  readonly maxRedirects: number;
  readonly allowPrivate: true | readonly string[];
  readonly proxy: string | Secret<never> | undefined;
}

export const HTTP_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export type HttpMethod = (typeof HTTP_METHODS)[number];

/**
 * Finds a secret, once for every call, in the worker. An error that it throws is never shown; the secret's place is
 * named instead.
 */
export type SecretSource<Services> = (ctx: CallContext<Services>) => string | Promise<string>;

/** A reference to a secret; made by `secret` only. Its value is never part of a definition. */
export interface Secret<Services = UntypedServices> {
  readonly kind: 'secret';
  readonly source: string | SecretSource<Services>;
  readonly prefix: string;
}

/**
 * Stands for a value that the worker looks up anew for every call: an environment variable by its name, or the result
 * of a function (`(ctx) => ctx.services.vault.read('payments')`). The value is put into the request and nowhere else:
 * no history and no log has it, and `[redacted]` replaces it where a response quotes it (as it is, URL-encoded or in
 * base64). It has at least 4 characters.
 * @param options `prefix`: precedes the value and is no secret, such as `'Bearer '`
 */
export function secret<Services = UntypedServices>(
  source: string | SecretSource<Services>,
  options: { readonly prefix?: string } = {},
): Secret<Services> {
  return { kind: 'secret', source, prefix: options.prefix ?? '' };
}

/** A header's value: a text, a secret, or made of the input. The value of a function is not treated as a secret. */
export type HttpHeader<Services, Input> =
  | string
  | Secret<Services>
  | ((input: Input, ctx: CallContext<Services>) => string);

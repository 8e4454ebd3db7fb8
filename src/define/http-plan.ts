/** What the worker needs of an `httpTool`. */
import type { HttpHeader, HttpMethod, Secret } from './http-spec.js';
import type { UrlTemplate } from './url-template.js';

/** `rest`: all fields of the input that are in no other place. */
export type FieldSource = 'rest' | readonly string[] | ((input: never) => unknown);

/** How the worker makes the request; judged. Part of a `Tool`, never recorded. */
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

/** All fields that `httpTool` takes beside those of a server tool, and `secret`. Runs anywhere. */

import type { Json } from '../../protocol/values/json.js';
import type { GivenTo, ParsedOf, Schema } from '../schemas/schema.js';
import type { ToolError } from '../tool/context.js';
import type { HttpHeader, HttpMethod, Secret } from '../tool/http-plan.js';
import type { ServerToolSpec } from '../tool/spec.js';

/** A response, as mappings see it. */
export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case; repeated ones joined by ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed JSON, or text where `response` admits that; null when the body is empty. */
  readonly body: Json;
}

/** A text, number, truth value or list of them; lists repeat the name. Absent and null: left out. */
export type QueryValues = Readonly<Record<string, unknown>>;

/** The fields of the request, and of the mapping of its response. */
export interface HttpFields<Services, Input extends Schema, Output extends Schema> {
  readonly method: HttpMethod;
  /**
   * `https://api.example.com/orders/{orderId}`: absolute, with `{field}` of the input in path and query only. Values
   * are URL-encoded; none can change the host or the depth of the path.
   */
  readonly url: string;
  /**
   * Input fields that go into the query, or a function that makes it. @defaultValue for GET, HEAD and DELETE all fields
   * that are neither in `url` nor in `body`
   */
  readonly query?: readonly string[] | ((input: ParsedOf<Input>) => QueryValues);
  /** Constant parts of the query, beside those. */
  readonly fixedQuery?: Readonly<Record<string, string | Secret<Services>>>;
  /**
   * Input fields that make up the body, or a function that makes it. @defaultValue for POST, PUT and PATCH all fields
   * that are neither in `url` nor in `query`
   */
  readonly body?: readonly string[] | ((input: ParsedOf<Input>) => unknown);
  /** `form`: `application/x-www-form-urlencoded`. @defaultValue 'json' */
  readonly bodyType?: 'json' | 'form';
  /** `authorization` and `cookie` must be secrets. */
  readonly headers?: Readonly<Record<string, HttpHeader<Services, ParsedOf<Input>>>>;
  /**
   * Name of the header with `ctx.idempotencyKey`, which is the same in every attempt. @defaultValue 'Idempotency-Key'
   * for all but GET and HEAD
   * @see https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/
   */
  readonly idempotencyHeader?: string | false;
  /**
   * Required form of a response's body; any other is an error that the model reads. `auto`: JSON, else text.
   * @defaultValue 'json'
   */
  readonly response?: 'json' | 'text' | 'auto';
  /** Statuses that are no error. @defaultValue 200 to 299 */
  readonly okStatuses?: readonly number[];
  /** The call's result: a JSON Pointer into the body, or a function of the answer. @defaultValue the body */
  readonly result?: string | ((answer: HttpAnswer) => GivenTo<Output>);
  /**
   * Text that the model reads of an error response, beside its status: a JSON Pointer into the body, or a function. A
   * function that returns a `toolError` determines the whole text. @defaultValue the beginning of the body
   */
  readonly error?: string | ((answer: HttpAnswer) => string | ToolError);
  /**
   * The most bytes that are read, after decompression; a longer response ends the call with an error. @defaultValue 1
   * MiB, at most 16 MiB
   */
  readonly maxResponseBytes?: number;
  /** The most redirects, from 0 to 5; at 0 a redirect is a response like any other. @defaultValue 5 */
  readonly maxRedirects?: number;
  /**
   * Allows addresses that are not public. `true`: loopback and private addresses. A list: these addresses, ranges
   * (`10.1.0.0/16`) and host names, of any kind; addresses of a cloud's metadata service must be listed.
   */
  readonly allowPrivate?: true | readonly string[];
  /**
   * `environment`: HTTP_PROXY, HTTPS_PROXY and NO_PROXY of the worker. Else a proxy's address; one with a password is a
   * secret. A proxy resolves the host's name itself, so with a proxy only addresses in the URL are checked.
   * @defaultValue none
   */
  readonly proxy?: string | Secret<Services>;
}

type ServerFields<Services, Input extends Schema, Output extends Schema> = Omit<
  ServerToolSpec<Services, Input, Output>,
  'executor' | 'run' | 'streaming' | 'effects'
>;

/** All fields that `httpTool` takes. */
export interface HttpToolSpec<Services, Input extends Schema, Output extends Schema>
  extends ServerFields<Services, Input, Output>,
    HttpFields<Services, Input, Output> {
  /**
   * The effect of a second request. Requests of tools whose effects are `'none'` or `'idempotent'` are made again after
   * 408, 425, 429, 5xx and failures of the connection, up to `maxAttempts`, as `retry-after` says; those of `'once'`
   * never are.
   * @defaultValue by the method, as HTTP defines it: 'none' for GET and HEAD, 'idempotent' for PUT and DELETE, else
   * 'once'
   * @see https://www.rfc-editor.org/rfc/rfc9110#section-9.2.2
   */
  readonly effects?: ServerToolSpec<Services, Input, Output>['effects'];
}

/** Headers of HTTP tools: secrets are references, which the worker resolves for each call. Runs anywhere. */
import type { UntypedServices } from '../../../define/tool/context.js';
import { type HttpHeader, type SecretSource, secret } from '../../../define/tool/http-plan.js';
import { isRecord } from '../../../protocol/values/json.js';
import { below, type Findings } from './findings.js';
import type { ParsedTool } from './forms.js';

type Declared = NonNullable<NonNullable<ParsedTool['execution']>['headers']>;

export type Headers = Readonly<Record<string, HttpHeader<UntypedServices, unknown>>>;

/** Finds the secret that a document names. @defaultValue `ctx.secret(name)`, the worker's `secrets` */
export type SecretOf = (name: string) => SecretSource<UntypedServices>;

/** Words of a header's name under which services take credentials. */
const CARRIER =
  /^(?:(?:api|access|auth|private|secret|session|subscription)?(?:key|token|secret|password)s?|authorization|cookie|passwd|pwd|credentials?)$/;
/** Names that end so. */
const CARRIER_END = /(?:^|[-_.])auth$/;
/** Such words, and no credentials. */
const OTHER_NAMES: readonly string[] = ['idempotency-key', 'x-idempotency-key'];
/** A value that begins as one of `Authorization` does. */
const KEY_VALUE = /^(?:bearer|basic|token)\s+\S/i;
const KEY_QUERY = /[?&](?:api[-_]?key|access[-_]?token|token|secret|password)=[^&{]/i;

/** Whether services take credentials in a header of this name. */
function carriesCredentials(name: string): boolean {
  const lower = name.toLowerCase();
  if (OTHER_NAMES.includes(lower)) return false;
  return CARRIER_END.test(lower) || lower.split(/[-_.]/).some((word) => CARRIER.test(word));
}

/** A text is refused in headers that carry credentials by their names, and warned of where it looks like one. */
export function headersOf(
  declared: Declared,
  at: string,
  { findings, secretOf }: { readonly findings: Findings; readonly secretOf: SecretOf },
): Headers {
  const headers: [string, HttpHeader<UntypedServices, unknown>][] = [];
  for (const [name, value] of Object.entries(declared)) {
    const place = below(at, name);
    if (typeof value !== 'string') {
      const { prefix } = value;
      headers.push([name, secret(secretOf(value.secret), prefix === undefined ? {} : { prefix })]);
    } else if (carriesCredentials(name))
      findings.fault(
        place,
        'must be {"secret": "NAME", "prefix"?}: a document must not contain credentials',
      );
    else {
      if (KEY_VALUE.test(value))
        findings.warn(place, 'looks like a credential: name it by {"secret": "NAME"}');
      headers.push([name, value]);
    }
  }
  return Object.fromEntries(headers);
}

/** Refuses credentials in the headers of an MCP server, which nothing reads: code gives them by the option `mcp`. */
export function checkServerHeaders(headers: unknown, at: string, findings: Findings): void {
  if (!isRecord(headers)) return;
  for (const [name, value] of Object.entries(headers))
    if (typeof value === 'string' && (carriesCredentials(name) || KEY_VALUE.test(value)))
      findings.fault(
        below(at, name),
        'must be left out: a document must not contain credentials; the option mcp gives them to its server',
      );
}

/** Warns of an address that has a key in its query. */
export function checkAddress(url: string, at: string, findings: Findings): void {
  if (KEY_QUERY.test(url))
    findings.warn(at, 'has a credential in its query, which logs of services keep: use a header');
}

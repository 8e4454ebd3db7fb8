/** Headers of HTTP tools: secrets are references, which the worker resolves for each call. Runs anywhere. */
import type { UntypedServices } from '../../../define/tool/context.js';
import { type HttpHeader, type SecretSource, secret } from '../../../define/tool/http-plan.js';
import { below, type Findings } from './findings.js';
import type { ParsedTool } from './forms.js';

type Declared = NonNullable<NonNullable<ParsedTool['execution']>['headers']>;

export type Headers = Readonly<Record<string, HttpHeader<UntypedServices, unknown>>>;

/** Finds the secret that a document names. @defaultValue `ctx.secret(name)`, the worker's `secrets` */
export type SecretOf = (name: string) => SecretSource<UntypedServices>;

const CREDENTIALS: readonly string[] = ['authorization', 'cookie'];
/** Names under which services take keys, and values that begin like one. */
const KEY_NAME = /(?:^|[-_])(?:api-?key|access-?key|token|secret|password|auth)$/i;
const KEY_VALUE = /^(?:bearer|basic|token)\s+\S/i;
const KEY_QUERY = /[?&](?:api[-_]?key|access[-_]?token|token|secret|password)=[^&{]/i;

/** A literal credential is refused in `authorization` and `cookie`, as by `httpTool`, and warned of elsewhere. */
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
    } else if (CREDENTIALS.includes(name.toLowerCase()))
      findings.fault(
        place,
        'must be {"secret": "NAME", "prefix": "Bearer "}: a document must not contain credentials',
      );
    else {
      if (KEY_NAME.test(name) || KEY_VALUE.test(value))
        findings.warn(place, 'looks like a credential: name it by {"secret": "NAME"}');
      headers.push([name, value]);
    }
  }
  return Object.fromEntries(headers);
}

/** Warns of an address that has a key in its query. */
export function checkAddress(url: string, at: string, findings: Findings): void {
  if (KEY_QUERY.test(url))
    findings.warn(at, 'has a credential in its query, which logs of services keep: use a header');
}

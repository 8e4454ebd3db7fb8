/**
 * What a web page that is not of this API has a browser send is refused, before any route. Such a page asks in two ways: under an address
 * of its own, for which a name server says this machine's after the page has come (DNS rebinding), so that the browser takes both for one
 * origin; and across origins, where requests without a body, or with a plain one, go out before anybody is asked (CSRF).
 *
 * The rule for the second is that of Go's `net/http.CrossOriginProtection`, which OWASP's cheat sheet on CSRF has as "Fetch Metadata":
 * `Sec-Fetch-Site` says it, which no page can set; in browsers that do not send it, `Origin` is compared with `Host`. What has neither is
 * no browser, or no more than a picture or a link of one. It holds for reading, too: nothing there needs it, and an event stream that is
 * held open costs. A link that somebody follows is let in.
 *
 * **With authentication**, where the application knows who asks (`tenantsOf`): a page that comes by rebinding has no cookies or tokens of
 * the API, so `Host` is not looked at. A token that scripts add (bearer) is added by no browser, and by no page of another origin unless
 * CORS let it, so nor is the origin of a request with one. What browsers add by themselves - cookies, client certificates, Basic, the
 * place in the network - proves nothing of the page that asks: there the origin counts as it does without authentication.
 * @see https://pkg.go.dev/net/http#CrossOriginProtection
 * @see https://cheatsheetseries.owasp.org/cheatsheets/Cross-Site_Request_Forgery_Prevention_Cheat_Sheet.html
 * @see https://www.w3.org/TR/fetch-metadata/
 */
import type { Request, RequestHandler, Response } from 'express';
import { EngineError, invalidField } from '../../client/api/errors.js';
import { HOST_NAME_RULE, isHostName, isLoopbackName, nameOfHost } from '../../net/hosts.js';
import type { AppDeps } from './deps.js';
import { sendProblem } from './problem.js';

type Means = Pick<AppDeps, 'allowedHosts' | 'tenantsOf' | 'log'>;

interface Refusal {
  /** 421: the request was meant for another server, as far as its sender knows. 403: it is ours, and not of whom we serve. */
  readonly code: 'host_not_allowed' | 'origin_not_allowed';
  readonly header: 'Host' | 'Origin' | 'Sec-Fetch-Site';
  readonly value: string;
  readonly rule: string;
}

const WAY_OUT = 'Another name is allowed by COLLOQUY_ALLOWED_HOSTS or createApp({ allowedHosts })';
const HOST_RULE = 'must be localhost or a loopback address while nobody checks who asks';
const ORIGIN_RULE = 'must be the origin of the API, or one that it allows';
const SITE_RULE =
  'must be same-origin or none, unless CORS or allowedHosts allow the origin of the page';

/** Different refusals that are told to the log; a page that varies its name must not fill it. */
const TOLD_AT_MOST = 100;
/** What is told of a header that somebody else has chosen. */
const SHOWN_CHARS = 200;

/**
 * Has to stand behind what sets CORS headers: an origin that the response allows by name is allowed here.
 * @throws {EngineError} invalid_request when a host that is to be allowed is none
 */
export function refuseOtherSites(means: Means): RequestHandler {
  const allowed = allowedNames(means);
  const told = new Set<string>();
  return (request, response, next) => {
    const refusal =
      hostRefusal(means, request, allowed) ??
      (hasToken(means, request) ? undefined : originRefusal(request, response, allowed));
    if (refusal === undefined) {
      next();
      return;
    }
    const { code, header, rule } = refusal;
    const value = refusal.value.slice(0, SHOWN_CHARS);
    const message = `${rule}, got ${JSON.stringify(value)}`;
    const what = `${code} ${value} ${request.get('origin') ?? ''}`;
    if (told.size < TOLD_AT_MOST && !told.has(what)) {
      told.add(what);
      const line = {
        header,
        value,
        method: request.method,
        path: request.path,
        ...pageOf(request),
      };
      means.log?.warn(line, 'refused what a page of another site may have sent; told once');
    }
    const problems = [{ path: header, message }];
    sendProblem(response, new EngineError(code, `${header} ${message}. ${WAY_OUT}`, { problems }));
  };
}

function allowedNames({ allowedHosts = [] }: Means): ReadonlySet<string> {
  for (const [index, name] of allowedHosts.entries())
    if (!isHostName(name)) throw invalidField(`/allowedHosts/${index}`, HOST_NAME_RULE);
  return new Set(allowedHosts.map((name) => name.toLowerCase()));
}

/** Other headers that name a host are not looked at: a page of the same origin, as the browser sees it, may set them. */
function hostRefusal(
  means: Means,
  request: Request,
  allowed: ReadonlySet<string>,
): Refusal | undefined {
  const { host } = request.headers;
  // HTTP/1.0 without it is a probe; every browser sends it.
  if (means.tenantsOf !== undefined || host === undefined) return undefined;
  const name = nameOfHost(host);
  if (name !== undefined && (isLoopbackName(name) || allowed.has(name))) return undefined;
  return { code: 'host_not_allowed', header: 'Host', value: host, rule: HOST_RULE };
}

/** Where nobody looks at tokens, one proves nothing, and CORS for everybody (`*`) is enough to send it. */
function hasToken(means: Means, request: Request): boolean {
  return means.tenantsOf !== undefined && /^bearer /i.test(request.get('authorization') ?? '');
}

function originRefusal(
  request: Request,
  response: Response,
  allowed: ReadonlySet<string>,
): Refusal | undefined {
  const { origin } = request.headers;
  if (origin !== undefined && isAllowed(origin, response, allowed)) return undefined;
  const site = request.get('sec-fetch-site');
  if (site === undefined) {
    if (origin === undefined || isOriginOf(origin, request.headers.host)) return undefined;
    return { code: 'origin_not_allowed', header: 'Origin', value: origin, rule: ORIGIN_RULE };
  }
  // Pages of other ports of this machine are same-site. What is none of the known values is no browser's, or two headers.
  if (site === 'same-origin' || site === 'none' || isFollowedLink(request)) return undefined;
  return { code: 'origin_not_allowed', header: 'Sec-Fetch-Site', value: site, rule: SITE_RULE };
}

/** Pages of a name that is allowed to be ours are ours; their port is not asked, for a proxy may have another. */
function isAllowed(origin: string, response: Response, allowed: ReadonlySet<string>): boolean {
  if (response.getHeader('access-control-allow-origin') === origin) return true;
  const name = URL.canParse(origin) ? nameOfHost(new URL(origin).host) : undefined;
  return name !== undefined && allowed.has(name);
}

/** Ports that a scheme implies are left out of one of the two, or of both. The scheme itself ends at a proxy that does TLS. */
function isOriginOf(origin: string, host: string | undefined): boolean {
  if (host === undefined || !URL.canParse(origin)) return false;
  const page = new URL(origin);
  const own = `${page.protocol}//${host}`;
  return page.host !== '' && URL.canParse(own) && new URL(own).host === page.host;
}

/** The page that sent it is left for what it shows; frames and forms are none. */
function isFollowedLink(request: Request): boolean {
  return (
    request.method === 'GET' &&
    request.get('sec-fetch-mode') === 'navigate' &&
    request.get('sec-fetch-dest') === 'document'
  );
}

function pageOf(request: Request): { readonly origin?: string } {
  const { origin } = request.headers;
  return origin === undefined ? {} : { origin: origin.slice(0, SHOWN_CHARS) };
}

/**
 * Refuses requests that a web page of another site has a browser send, before any route. Such a page can send them in
 * two ways. With DNS rebinding, the page has an address of its own, for which a name server returns this machine's
 * address after the page has been loaded, so that the browser takes both for one origin. With cross-site request
 * forgery (CSRF), the page sends requests across origins, and a browser sends those without a body, or with a plain
 * one, without asking the server first.
 *
 * The rule against CSRF is that of Go's `net/http.CrossOriginProtection`, which OWASP's cheat sheet on CSRF calls
 * "Fetch Metadata": `Sec-Fetch-Site` states the relation, and no page can set it; in browsers that do not send it,
 * `Origin` is compared with `Host`. A request with neither header does not come from a browser, or is no more than its
 * request for a picture or a link. The rule holds for reads, too: no page of another site needs them, and an event
 * stream that is held open costs resources. A link that a user follows is let in.
 *
 * **With an identity that is not for development**: a page that uses rebinding has no cookies or tokens of the API, so
 * `Host` is not checked. A bearer token is added by scripts, never by a browser
 * itself, and pages of another origin can add one only if CORS let them, so the origin of a request with a token is not
 * checked either. Credentials that browsers add by themselves - cookies, client certificates, Basic, the place in the
 * network - prove nothing about the page: with those the origin counts as it does in development.
 * @see https://pkg.go.dev/net/http#CrossOriginProtection
 * @see https://cheatsheetseries.owasp.org/cheatsheets/Cross-Site_Request_Forgery_Prevention_Cheat_Sheet.html
 * @see https://www.w3.org/TR/fetch-metadata/
 */
import type { Request, RequestHandler, Response } from 'express';
import { ConversationError, invalidField } from '../../client/api/errors.js';
import { HOST_NAME_RULE, isHostName, isLoopbackName, nameOfHost } from '../../net/hosts.js';
import { isForDevelopment } from '../identity/identity.js';
import type { AppDeps } from './deps.js';
import { sendProblem } from './problem.js';

type Deps = Pick<AppDeps, 'allowedHosts' | 'identify' | 'log'>;

interface Refusal {
  /**
   * 421: the sender addressed another server, as far as it knows. 403: the sender addressed this one, from an origin
   * that is not served.
   */
  readonly code: 'host_not_allowed' | 'origin_not_allowed';
  readonly header: 'Host' | 'Origin' | 'Sec-Fetch-Site';
  readonly value: string;
  readonly rule: string;
}

const WAY_OUT = 'Another name is allowed by COLLOQUY_ALLOWED_HOSTS or createApp({ allowedHosts })';
const HOST_RULE = 'must be localhost or a loopback address while no identity is configured';
const ORIGIN_RULE = 'must be the origin of the API, or one that it allows';
const SITE_RULE =
  'must be same-origin or none, unless CORS or allowedHosts allow the origin of the page';

/** Different refusals that are logged; a page that varies its name must not fill the log. */
const MAX_LOGGED = 100;
/** Characters that are logged and returned of a header, which the sender has chosen. */
const SHOWN_CHARS = 200;

/**
 * Must stand after the middleware that sets CORS headers: an origin that the response allows by name is allowed here.
 * @throws {ConversationError} invalid_request when an entry of `allowedHosts` is not a host name
 */
export function refuseOtherSites(deps: Deps): RequestHandler {
  const allowed = allowedNames(deps);
  const logged = new Set<string>();
  return (request, response, next) => {
    const refusal =
      hostRefusal(deps, request, allowed) ??
      (hasToken(deps, request) ? undefined : originRefusal(request, response, allowed));
    if (refusal === undefined) {
      next();
      return;
    }
    const { code, header, rule } = refusal;
    const value = refusal.value.slice(0, SHOWN_CHARS);
    const message = `${rule}, got ${JSON.stringify(value)}`;
    const what = `${code} ${value} ${request.get('origin') ?? ''}`;
    if (logged.size < MAX_LOGGED && !logged.has(what)) {
      logged.add(what);
      const line = {
        header,
        value,
        method: request.method,
        path: request.path,
        ...pageOf(request),
      };
      deps.log?.warn(
        line,
        'refused a request that a page of another site may have sent; logged once',
      );
    }
    const problems = [{ path: header, message }];
    sendProblem(
      response,
      new ConversationError(code, `${header} ${message}. ${WAY_OUT}`, { problems }),
    );
  };
}

function allowedNames({ allowedHosts = [] }: Deps): ReadonlySet<string> {
  for (const [index, name] of allowedHosts.entries())
    if (!isHostName(name)) throw invalidField(`/allowedHosts/${index}`, HOST_NAME_RULE);
  return new Set(allowedHosts.map((name) => name.toLowerCase()));
}

/**
 * Checks `Host` only. Other headers that name a host count for nothing: a page that the browser takes for the same
 * origin may set them.
 */
function hostRefusal(
  deps: Deps,
  request: Request,
  allowed: ReadonlySet<string>,
): Refusal | undefined {
  const { host } = request.headers;
  // A request without `Host` is a probe by HTTP/1.0; every browser sends the header.
  if (!isForDevelopment(deps.identify) || host === undefined) return undefined;
  const name = nameOfHost(host);
  if (name !== undefined && (isLoopbackName(name) || allowed.has(name))) return undefined;
  return { code: 'host_not_allowed', header: 'Host', value: host, rule: HOST_RULE };
}

/**
 * True for a request with a bearer token where an identity is configured. In development no page of another origin
 * needs the API.
 */
function hasToken(deps: Deps, request: Request): boolean {
  return !isForDevelopment(deps.identify) && /^bearer /i.test(request.get('authorization') ?? '');
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
  // Pages of other ports of this machine are same-site. An unknown value comes from no browser, or from two headers.
  if (site === 'same-origin' || site === 'none' || isFollowedLink(request)) return undefined;
  return { code: 'origin_not_allowed', header: 'Sec-Fetch-Site', value: site, rule: SITE_RULE };
}

/**
 * Allows origins that CORS headers allow by name, and pages of `allowedHosts`. Ports are not compared, for a proxy may
 * have another.
 */
function isAllowed(origin: string, response: Response, allowed: ReadonlySet<string>): boolean {
  if (response.getHeader('access-control-allow-origin') === origin) return true;
  const name = URL.canParse(origin) ? nameOfHost(new URL(origin).host) : undefined;
  return name !== undefined && allowed.has(name);
}

/**
 * Compares hosts under the scheme of the origin, because a port that the scheme implies may be left out of either. The
 * scheme itself is not compared: TLS may end at a proxy.
 */
function isOriginOf(origin: string, host: string | undefined): boolean {
  if (host === undefined || !URL.canParse(origin)) return false;
  const page = new URL(origin);
  const own = `${page.protocol}//${host}`;
  return page.host !== '' && URL.canParse(own) && new URL(own).host === page.host;
}

/**
 * True for navigation by a link, after which the browser leaves the sending page; frames and forms are no such
 * navigation.
 */
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

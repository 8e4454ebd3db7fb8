/**
 * An application that gets its tokens by OAuth, as far as the conformance scenarios need one: the resolver that it
 * gives to `mcpServer`. The engine only calls the resolver with the server's challenge; the rest is the library, and
 * a user who always consents.
 */
import {
  auth,
  ClientCredentialsProvider,
  CrossAppAccessProvider,
  computeScopeUnion,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  PrivateKeyJwtProvider,
  requestJwtAuthorizationGrant,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import type { McpDeps } from '../../../src/define/mcp/spec.js';

/** Values that a scenario passes to its client, such as credentials. */
export type Context = Readonly<Record<string, string | undefined>>;

const REDIRECT_URL = 'http://localhost:3000/callback';
const CLIENT_METADATA_URL = 'https://conformance-test.local/client-metadata.json';

/** Scenarios that come with credentials. */
const HAS_CREDENTIALS: readonly string[] = [
  'auth/client-credentials-basic',
  'auth/client-credentials-jwt',
  'auth/cross-app-access-complete-flow',
  'auth/pre-registration',
];

/** A user's login; the redirect of the address that a browser would have opened is the consent. */
class Login implements OAuthClientProvider {
  readonly redirectUrl = REDIRECT_URL;
  readonly clientMetadataUrl = CLIENT_METADATA_URL;
  readonly clientMetadata = {
    client_name: 'colloquy',
    redirect_uris: [REDIRECT_URL],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  };
  #returned = new URLSearchParams();
  #client: StoredOAuthClientInformation | undefined;
  #tokens: StoredOAuthTokens | undefined;
  #verifier = '';
  #discovered: OAuthDiscoveryState | undefined;

  constructor(client?: StoredOAuthClientInformation) {
    this.#client = client;
  }

  clientInformation() {
    return this.#client;
  }

  saveClientInformation(client: StoredOAuthClientInformation) {
    this.#client = client;
  }

  tokens() {
    return this.#tokens;
  }

  saveTokens(tokens: StoredOAuthTokens) {
    this.#tokens = tokens;
  }

  async redirectToAuthorization(address: URL) {
    const response = await fetch(address, { redirect: 'manual' });
    this.#returned = new URL(response.headers.get('location') ?? REDIRECT_URL).searchParams;
  }

  /** The parameters of the redirect. */
  consent(): { readonly authorizationCode: string; readonly iss?: string } {
    const iss = this.#returned.get('iss');
    const authorizationCode = this.#returned.get('code') ?? '';
    return { authorizationCode, ...(iss === null ? {} : { iss }) };
  }

  saveDiscoveryState(state: OAuthDiscoveryState) {
    this.#discovered = state;
  }

  discoveryState() {
    return this.#discovered;
  }

  saveCodeVerifier(verifier: string) {
    this.#verifier = verifier;
  }

  codeVerifier() {
    return this.#verifier;
  }
}

/**
 * An application knows the issuer that it trusts with its credentials; a scenario does not name one, so the server's
 * is used.
 */
function providerOf(
  scenario: string,
  context: Context,
  expectedIssuer: string,
): OAuthClientProvider {
  const { client_id: clientId = '', client_secret: clientSecret = '' } = context;
  switch (scenario) {
    case 'auth/client-credentials-basic':
      return new ClientCredentialsProvider({ clientId, clientSecret, expectedIssuer });
    case 'auth/client-credentials-jwt': {
      const { private_key_pem: privateKey = '', signing_algorithm: algorithm = '' } = context;
      return new PrivateKeyJwtProvider({ clientId, privateKey, algorithm, expectedIssuer });
    }
    case 'auth/cross-app-access-complete-flow':
      return new CrossAppAccessProvider({
        clientId,
        clientSecret,
        expectedIssuer,
        assertion: async ({ authorizationServerUrl, resourceUrl, scope, fetchFn }) => {
          const grant = await requestJwtAuthorizationGrant({
            tokenEndpoint: context['idp_token_endpoint'] ?? '',
            audience: authorizationServerUrl,
            resource: resourceUrl,
            idToken: context['idp_id_token'] ?? '',
            clientId: context['idp_client_id'] ?? '',
            ...(scope === undefined ? {} : { scope }),
            fetchFn,
          });
          return grant.jwtAuthGrant;
        },
      });
    case 'auth/pre-registration':
      return new Login({
        client_id: clientId,
        client_secret: clientSecret,
        issuer: expectedIssuer,
      });
    default:
      return new Login();
  }
}

/** A resolver for `mcpServer({token})`. */
export function tokenResolver(scenario: string, url: string, context: Context) {
  let provider: OAuthClientProvider | undefined;
  let wanted: string | undefined;
  return async ({ refused, challenge = '' }: McpDeps): Promise<string | undefined> => {
    if (!refused) return (await provider?.tokens())?.access_token;
    const headers = { 'www-authenticate': challenge };
    const said = extractWWWAuthenticateParams(new Response(null, { status: 401, headers }));
    const { resourceMetadataUrl, error } = said;
    const where = resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl };
    provider ??= providerOf(scenario, context, await issuerOf(scenario, url, where));
    const isStepUp = error === 'insufficient_scope';
    const had = await provider.tokens();
    wanted = isStepUp ? computeScopeUnion(wanted, had?.scope, said.scope) : said.scope;
    const scope = wanted === undefined ? {} : { scope: wanted };
    const about = { serverUrl: url, ...where, ...scope };
    const end = await auth(provider, { ...about, forceReauthorization: isStepUp });
    if (end === 'REDIRECT' && provider instanceof Login)
      await auth(provider, { ...about, ...provider.consent() });
    return (await provider.tokens())?.access_token;
  };
}

async function issuerOf(
  scenario: string,
  url: string,
  where: { readonly resourceMetadataUrl?: URL },
): Promise<string> {
  if (!HAS_CREDENTIALS.includes(scenario)) return '';
  const { authorizationServerUrl, authorizationServerMetadata } = await discoverOAuthServerInfo(
    url,
    where,
  );
  return authorizationServerMetadata?.issuer ?? authorizationServerUrl;
}

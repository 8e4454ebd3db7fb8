/** The person for whom the page acts. The token is kept for the tab alone, and is sent in a header, never in an address. */
import { ApiError, type BrowserClient, type Caller, createBrowserClient } from 'colloquy/browser';
import { whyOf } from '../shared/why.js';

const KEY = 'colloquy.token';
const TENANT_KEY = 'colloquy.tenant';

export class Session {
  /** The tenant whose conversations the page shows. */
  readonly tenant: string;
  readonly client: BrowserClient;
  readonly #listeners = new Set<() => void>();
  #caller: Caller;
  #token: string | undefined;
  #renewal:
    | { readonly promise: Promise<string>; readonly resolve: (token: string) => void }
    | undefined;

  constructor(token: string, caller: Caller) {
    this.#caller = caller;
    const { tenants } = caller;
    const kept = sessionStorage.getItem(TENANT_KEY) ?? '';
    this.tenant = tenants.includes(kept) ? kept : (tenants[0] ?? '');
    this.#token = token;
    this.client = createBrowserClient({
      ...{ baseUrl: '', timing: { maxPauseMs: 5_000 } },
      me: this.#me(),
      tenant: this.tenant,
      getToken: () => this.#nextToken(),
    });
  }

  /** As the token that is used now says it: another token of the same person may have other rights and roles. */
  get caller(): Caller {
    return this.#caller;
  }

  /** Bound, as is `subscribe`. */
  readonly rights = (): Caller['rights'] => this.#caller.rights;

  /** Whether the API has refused the token: requests wait for `renew`. Bound. */
  readonly isRefused = (): boolean => this.#renewal !== undefined;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Requests that wait go on with the new token of the same caller. */
  renew(token: string, caller: Caller): void {
    sessionStorage.setItem(KEY, token);
    this.#caller = caller;
    const renewal = this.#renewal;
    this.#renewal = undefined;
    renewal?.resolve(token);
    this.#tell();
  }

  /** The client asks for a token once, and again when the API has refused the one before. */
  #nextToken(): string | Promise<string> {
    const token = this.#token;
    this.#token = undefined;
    if (token !== undefined) return token;
    if (this.#renewal === undefined) {
      this.#renewal = Promise.withResolvers<string>();
      this.#tell();
    }
    return this.#renewal.promise;
  }

  /** Reads the roles when they are asked for. */
  #me(): NonNullable<BrowserClient['me']> {
    const rolesOf = () => this.#caller.actor.roles ?? [];
    return {
      id: this.#caller.actor.id,
      get roles() {
        return rolesOf();
      },
    };
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** The caller whom the token names. @throws {ApiError} 401 for none */
async function callerOf(token: string): Promise<Caller> {
  return await createBrowserClient({ baseUrl: '', token }).session();
}

/** @throws {ApiError} */
export async function signIn(token: string): Promise<Session> {
  const caller = await callerOf(token);
  sessionStorage.setItem(KEY, token);
  return new Session(token, caller);
}

/**
 * Signs in anew where the token of a session was refused. The same caller goes on with its session; another one gets a
 * new one. @throws {ApiError}
 */
export async function signInAgain(session: Session, token: string): Promise<Session> {
  const caller = await callerOf(token);
  const isSame =
    caller.actor.id === session.caller.actor.id && caller.tenants.includes(session.tenant);
  if (!isSame) {
    sessionStorage.setItem(KEY, token);
    return new Session(token, caller);
  }
  session.renew(token, caller);
  return session;
}

/** The same caller with the conversations of another tenant. */
export function inTenant({ caller }: Session, tenant: string): Session {
  sessionStorage.setItem(TENANT_KEY, tenant);
  return new Session(keptToken() ?? '', caller);
}

export function keptToken(): string | undefined {
  return sessionStorage.getItem(KEY) ?? undefined;
}

export function forgetToken(): void {
  sessionStorage.removeItem(KEY);
  sessionStorage.removeItem(TENANT_KEY);
}

/** The reason in words why a sign-in failed. */
export function signInProblem(error: unknown): string {
  const isUnknown = error instanceof ApiError && error.problem.status === 401;
  return isUnknown ? 'The API does not know this token.' : whyOf(error);
}

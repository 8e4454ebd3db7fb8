/**
 * The services, secrets and connections of one worker, by tenant and user. Every call of code gets a scope, and no
 * secret of it leaves the scope. Runs in the worker, and in tests of users.
 */
import { isPerTenant } from '../../define/services/per-tenant.js';
import type { Connection, SecretResolver } from '../../define/services/secrets.js';
import type { Logger } from '../../define/tool/context.js';
import { ToolRetry } from '../../define/tool/retry.js';
import { MIN_SECRET_CHARS } from '../../protocol/limits/service-limits.js';
import { messageOf } from '../shared/message-of.js';
import { CallScope, type Opened, type ScopeOwner } from './call-scope.js';
import { type Lease, Leases } from './leases.js';

export interface ScopesOptions {
  /** A value, or `perTenant(...)`. */
  readonly services: unknown;
  /** Absent: there are no secrets. */
  readonly secrets?: SecretResolver | undefined;
  readonly logger: Logger;
}

/** A secret is missing, or too short to be kept out of results. */
export class SecretError extends Error {
  override readonly name = 'SecretError';
}

export class Scopes {
  readonly #options: ScopesOptions;
  readonly #services: Leases;
  readonly #connections: Leases;

  constructor(options: ScopesOptions) {
    this.#options = options;
    const { logger } = options;
    this.#services = new Leases((error) => {
      logger.error('services of a tenant not disposed of', { reason: messageOf(error) });
    });
    this.#connections = new Leases((error) => {
      logger.error('connection not closed', { reason: messageOf(error) });
    });
  }

  /**
   * The scope of one call. Its user ends it by `release`.
   * @throws when the services of the tenant cannot be made, with the reason
   */
  async open(owner: ScopeOwner): Promise<CallScope> {
    return new CallScope(this, { owner, services: await this.servicesOf(owner.tenant) });
  }

  /** The same for code that all tenants share. Its services throw when they are per tenant. */
  shared(): unknown {
    const { services } = this.#options;
    return isPerTenant(services) ? NO_TENANT : services;
  }

  async servicesOf(tenant: string): Promise<Lease<unknown>> {
    const { services } = this.#options;
    if (!isPerTenant(services)) return { value: services, release: () => undefined };
    const { make, dispose, idleMs } = services;
    try {
      return await this.#services.take(tenant, {
        open: async () => await make(tenant),
        close: dispose,
        idleMs,
      });
    } catch (cause) {
      throw new Error(`The services of tenant ${tenant} were not made: ${messageOf(cause)}`, {
        cause,
      });
    }
  }

  /** @throws {SecretError} {ToolRetry} when the resolver fails, because it may succeed later */
  async secretOf({ tenant, user }: ScopeOwner, name: string): Promise<string> {
    const { secrets, logger } = this.#options;
    let value: string | undefined;
    try {
      value = await secrets?.({ name, tenant, ...(user === undefined ? {} : { user }) });
    } catch (error) {
      // The text of the error may hold the secret.
      const kind = error instanceof Error ? error.name : typeof error;
      logger.error('secret not looked up', { secret: name, tenant, kind });
      throw new ToolRetry({ message: `The secret "${name}" could not be looked up` });
    }
    if (typeof value !== 'string' || value === '')
      throw new SecretError(`There is no secret "${name}"`);
    if (value.length < MIN_SECRET_CHARS)
      throw new SecretError(
        `The secret "${name}" has fewer than ${MIN_SECRET_CHARS} characters: it could not be kept out of results`,
      );
    return value;
  }

  /** @throws the error of the connection's `open` */
  async connect<Value>(
    connection: Connection<Value>,
    { tenant, user }: ScopeOwner,
  ): Promise<Lease<Opened<Value>>> {
    const { name, per, open, close, idleMs } = connection;
    if (per === 'user' && user === undefined)
      throw new TypeError(`connection "${name}" is per user, and there is no user here`);
    const owner: ScopeOwner = per === 'user' ? { tenant, user } : { tenant };
    const whose = per === 'user' ? [user?.id, user?.verified] : [];
    return await this.#connections.take(JSON.stringify([name, tenant, ...whose]), {
      open: async () => {
        const secrets: string[] = [];
        const secret = async (wanted: string): Promise<string> => {
          const value = await this.secretOf(owner, wanted);
          secrets.push(value);
          return value;
        };
        const whom = owner.user === undefined ? { tenant } : { tenant, user: owner.user };
        return { value: await open({ ...whom, secret }), secrets };
      },
      close: ({ value }) => close(value),
      idleMs,
    });
  }

  /** Closes connections, then disposes of the services of tenants. Errors are logged. */
  async close(): Promise<void> {
    await this.#connections.close();
    await this.#services.close();
  }
}

/** Code that runs once in a worker has no tenant. */
const NO_TENANT: unknown = new Proxy(
  {},
  {
    get: (_, field) => {
      // Promises and printers look at any value.
      if (typeof field === 'symbol' || field === 'then' || field === 'toJSON') return undefined;
      throw new TypeError(
        'the services of this worker are per tenant, and there is no tenant here',
      );
    },
  },
);

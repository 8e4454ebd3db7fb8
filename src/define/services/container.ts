/**
 * A container of services by class or by name: made in order, disposed of in reverse. Handed to workers as `services`,
 * it is `ctx.services` of every tool. Optional: `services` may be any value. Runs anywhere.
 */

/** A class, abstract or not, whose instances the service is one of. */
export type ServiceClass<Service> = abstract new (...args: never[]) => Service;

/** The key of a service that is no instance of a class; made by `serviceName`. */
export interface ServiceName<Service> {
  readonly kind: 'service';
  readonly name: string;
  /** For inference; has no value. */
  readonly '~type'?: Service;
}

export type ServiceKey<Service> = ServiceClass<Service> | ServiceName<Service>;

/** Names with the same text are the same key. */
export function serviceName<Service>(name: string): ServiceName<Service> {
  return Object.freeze({ kind: 'service', name });
}

/** The making of one service; made by `provide`. */
export interface Provider {
  readonly key: ServiceKey<unknown>;
  readonly make: (services: Services) => unknown;
  readonly dispose?: (service: never) => unknown;
}

/**
 * Declares a service. `make` may be asynchronous, and gets the services that are declared before it.
 * `dispose` runs at the end, when all services that were made after this one are disposed of.
 */
export function provide<Service>(
  key: ServiceKey<Service>,
  make: (services: Services) => Service | Promise<Service>,
  dispose?: (service: Service) => void | Promise<void>,
): Provider {
  return Object.freeze({ key, make, ...(dispose === undefined ? {} : { dispose }) });
}

/** A service is not in the container, was declared twice, or could not be made. `message` names it. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
}

/** The container; made by `createServices` only. */
export class Services {
  readonly #made = new Map<unknown, { readonly service: unknown; readonly by: Provider }>();

  /** @throws {ServiceError} when it has no such service, or its turn to be made has not come */
  get<Service>(key: ServiceKey<Service>): Service {
    const made = this.#made.get(identityOf(key));
    if (made !== undefined) return made.service as Service;
    const known = [...this.#made.values()].map(({ by }) => shownKey(by.key));
    throw new ServiceError(
      `No service ${shownKey(key)}; made so far: ${known.length === 0 ? 'none' : known.join(', ')}`,
    );
  }

  has(key: ServiceKey<unknown>): boolean {
    return this.#made.has(identityOf(key));
  }

  /** For `createServices`. */
  async make(by: Provider): Promise<void> {
    const service = await by.make(this);
    this.#made.set(identityOf(by.key), { service, by });
  }

  /**
   * Disposes of the services in reverse order; each is gone from the container before. All are disposed of, even when one
   * of them fails. Safe to repeat.
   * @throws {AggregateError} of all that failed, as `ServiceError`s with the reasons as causes
   */
  async dispose(): Promise<void> {
    const failed: ServiceError[] = [];
    for (const [identity, { service, by }] of [...this.#made].reverse()) {
      this.#made.delete(identity);
      try {
        await by.dispose?.(service as never);
      } catch (cause) {
        failed.push(
          new ServiceError(`Service ${shownKey(by.key)} was not disposed of: ${reasonOf(cause)}`, {
            cause,
          }),
        );
      }
    }
    if (failed.length > 0) throw new AggregateError(failed, failed.map(reasonOf).join('; '));
  }
}

/**
 * Makes all services, one after the other in this order. `overrides` replace declarations of the same key, at their
 * place, or follow: for tests, and for workers with services of their own.
 * @throws {ServiceError} of the first that fails, with the reason as `cause`, after those before it are disposed of
 */
export async function createServices(
  providers: readonly Provider[],
  { overrides = [] }: { readonly overrides?: readonly Provider[] } = {},
): Promise<Services> {
  const services = new Services();
  for (const by of merged(providers, overrides))
    try {
      await services.make(by);
    } catch (cause) {
      // The first error counts.
      await services.dispose().catch(() => undefined);
      throw new ServiceError(`Service ${shownKey(by.key)} was not made: ${reasonOf(cause)}`, {
        cause,
      });
    }
  return services;
}

function merged(
  providers: readonly Provider[],
  overrides: readonly Provider[],
): readonly Provider[] {
  const given = byIdentity(providers);
  for (const [identity, provider] of byIdentity(overrides)) given.set(identity, provider);
  return [...given.values()];
}

/** @throws {ServiceError} */
function byIdentity(providers: readonly Provider[]): Map<unknown, Provider> {
  const found = new Map<unknown, Provider>();
  for (const provider of providers) {
    const identity = identityOf(provider.key);
    if (found.has(identity))
      throw new ServiceError(`Service ${shownKey(provider.key)} is declared twice`);
    found.set(identity, provider);
  }
  return found;
}

function identityOf(key: ServiceKey<unknown>): unknown {
  return typeof key === 'function' ? key : key.name;
}

function shownKey(key: ServiceKey<unknown>): string {
  return typeof key === 'function' ? key.name : `"${key.name}"`;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

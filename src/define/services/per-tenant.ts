/** Services that each tenant has of its own. Runs anywhere. */
import { type Duration, durationMs, durationProblem } from '../../protocol/values/durations.js';
import { DefinitionError } from '../checks/problems.js';
import { Services } from './container.js';

export interface PerTenantOptions<Made> {
  /** Called when no call has used the services for `idle`, and at the worker's end. @defaultValue `dispose` of a container */
  readonly dispose?: (services: Made) => unknown;
  /** @defaultValue 30 minutes */
  readonly idle?: Duration;
}

/** Makes the services of a tenant; made by `perTenant` only. */
export interface TenantServices<Made> {
  readonly kind: 'tenant_services';
  readonly make: (tenant: string) => Made | Promise<Made>;
  readonly dispose: (services: Made) => unknown;
  readonly idleMs: number;
}

const DEFAULT_IDLE_MS = 30 * 60_000;
const BOUNDS = { minMs: 0, maxMs: Number.MAX_SAFE_INTEGER };

/**
 * Handed to a worker as its `services`, it gives each call the services of the conversation's tenant as `ctx.services`.
 * `make` is called when a tenant's first call needs them, and again after they were disposed of. When it throws, the
 * call is tried again later. `setup` and `ready` of plugins have no tenant, so they have no services then.
 * @throws {DefinitionError}
 * @example createColloquyWorker({ services: perTenant((tenant) => createServices(providersOf(tenant))), ... })
 */
export function perTenant<Made>(
  make: (tenant: string) => Made | Promise<Made>,
  { dispose = disposeContainer, idle = DEFAULT_IDLE_MS }: PerTenantOptions<Made> = {},
): TenantServices<Made> {
  const problem = durationProblem(idle, BOUNDS);
  const problems = [
    ...(typeof make === 'function' ? [] : [{ field: 'make', rule: 'must be a function' }]),
    ...(problem === undefined ? [] : [{ field: 'idle', rule: problem }]),
  ];
  if (problems.length > 0) throw new DefinitionError('services per tenant', problems);
  return Object.freeze({
    kind: 'tenant_services',
    make,
    dispose,
    idleMs: durationMs(idle) ?? DEFAULT_IDLE_MS,
  });
}

export function isPerTenant(services: unknown): services is TenantServices<never> {
  return (
    typeof services === 'object' &&
    services !== null &&
    'kind' in services &&
    services.kind === 'tenant_services'
  );
}

async function disposeContainer(services: unknown): Promise<void> {
  if (services instanceof Services) await services.dispose();
}

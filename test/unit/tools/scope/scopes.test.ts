/** Services of tenants, and connections of tenants and users, in one worker. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  createServices,
  defineConnection,
  perTenant,
  provide,
  type Services,
  serviceName,
} from '../../../../src/index.js';
import { scopesOf } from '../../../support/builders/scopes.js';
import { promise } from '../../../support/promise.js';

const LENA = { id: 'lena', verified: true };
const OMAR = { id: 'omar', verified: true };
const base = serviceName<string>('base');

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('services per tenant', promise('G333'), () => {
  it('are made once for the calls of a tenant, and others have their own', async () => {
    const make = vi.fn((tenant: string) => ({ tenant }));
    const scopes = scopesOf(perTenant(make));
    const all = await Promise.all(['a', 'a', 'b'].map((tenant) => scopes.open({ tenant })));
    expect(all.map(({ services }) => services)).toEqual(
      ['a', 'a', 'b'].map((tenant) => ({ tenant })),
    );
    expect(all[0]?.services).toBe(all[1]?.services);
    expect(make.mock.calls).toEqual([['a'], ['b']]);
  });

  it('are disposed of when no call has used them for a while, and made again', async () => {
    const disposed: string[] = [];
    const scopes = scopesOf(
      perTenant((tenant) => tenant, {
        dispose: (tenant) => disposed.push(tenant),
        idle: '1 minute',
      }),
    );
    const [first, second] = [
      await scopes.open({ tenant: 'a' }),
      await scopes.open({ tenant: 'a' }),
    ];
    first.release();
    first.release();
    await vi.advanceTimersByTimeAsync(120_000);
    expect(disposed).toEqual([]);
    second.release();
    await vi.advanceTimersByTimeAsync(59_000);
    const third = await scopes.open({ tenant: 'a' });
    await vi.advanceTimersByTimeAsync(120_000);
    expect(disposed).toEqual([]);
    third.release();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(disposed).toEqual(['a']);
    expect((await scopes.open({ tenant: 'a' })).services).toBe('a');
  });

  it('in a container are disposed of with it, at the latest at the worker’s end', async () => {
    const disposed = vi.fn();
    const scopes = scopesOf(
      perTenant((tenant) => createServices([provide(base, () => `https://${tenant}`, disposed)])),
    );
    const scope = await scopes.open({ tenant: 'a' });
    expect((scope.services as Services).get(base)).toBe('https://a');
    await scopes.close();
    expect(disposed).toHaveBeenCalledExactlyOnceWith('https://a');
  });

  it('that cannot be made are made anew for the next call', async () => {
    const make = vi.fn<() => string>().mockImplementationOnce(() => {
      throw new Error('vault is sealed');
    });
    make.mockReturnValue('made');
    const scopes = scopesOf(perTenant(make));
    await expect(scopes.open({ tenant: 'a' })).rejects.toThrow(
      'The services of tenant a were not made: vault is sealed',
    );
    expect((await scopes.open({ tenant: 'a' })).services).toBe('made');
  });

  it('are not there for code without a tenant, whose access throws', () => {
    const shared = scopesOf(perTenant(() => ({ vault: 1 }))).shared() as { vault: number };
    expect(() => shared.vault).toThrow('per tenant, and there is no tenant here');
    expect(scopesOf({ vault: 1 }).shared()).toEqual({ vault: 1 });
  });

  it.each([
    ['make', [5], 'make: must be a function'],
    ['idle', [() => 1, { idle: 'soon' }], 'idle: '],
  ])('with a wrong %s are refused by the field', (_, given, problem) => {
    expect(() => perTenant(...(given as unknown as [() => number]))).toThrow(problem);
  });
});

describe('a connection', promise('G335'), () => {
  const secrets = ({ name, tenant, user }: { name: string; tenant: string; user?: object }) =>
    `${name} of ${tenant} ${JSON.stringify(user)}`;

  it('per user is opened once for each user of a tenant, with the secrets of that user', async () => {
    const open = vi.fn(async ({ secret }: { secret: (name: string) => Promise<string> }) => ({
      with: await secret('token'),
    }));
    const github = defineConnection({ name: 'github', open });
    const scopes = scopesOf(undefined, secrets);
    const owners = [
      { tenant: 'a', user: LENA },
      { tenant: 'a', user: LENA },
      { tenant: 'a', user: OMAR },
      { tenant: 'b', user: LENA },
      { tenant: 'a', user: { ...LENA, verified: false } },
    ];
    const opened = [];
    for (const owner of owners) opened.push(await (await scopes.open(owner)).connection(github));
    expect(opened).toEqual(
      owners.map(({ tenant, user }) => ({ with: secrets({ name: 'token', tenant, user }) })),
    );
    expect(opened[0]).toBe(opened[1]);
    expect(open).toHaveBeenCalledTimes(4);
  });

  it('per tenant is shared by its users, and knows none of them', async () => {
    const seen: unknown[] = [];
    const crm = defineConnection({
      ...{ name: 'crm', per: 'tenant' },
      open: async (owner) => {
        seen.push({ ...owner, secret: await owner.secret('key') });
        return { open: true };
      },
    });
    const scopes = scopesOf(undefined, secrets);
    const [lena, omar] = [
      await scopes.open({ tenant: 'a', user: LENA }),
      await scopes.open({ tenant: 'a', user: OMAR }),
    ];
    expect(await lena.connection(crm)).toBe(await omar.connection(crm));
    expect(seen).toEqual([{ tenant: 'a', secret: 'key of a undefined' }]);
  });

  it('is closed when no call has used it for a while, and at the worker’s end', async () => {
    const closed: number[] = [];
    let count = 0;
    const crm = defineConnection({
      ...{ name: 'crm', idle: '1 minute' },
      open: () => (count += 1),
      close: (number) => closed.push(number),
    });
    const scopes = scopesOf();
    const scope = await scopes.open({ tenant: 'a', user: LENA });
    await scope.connection(crm);
    await scope.connection(crm);
    await vi.advanceTimersByTimeAsync(120_000);
    expect(closed).toEqual([]);
    scope.release();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(closed).toEqual([1]);
    expect(await (await scopes.open({ tenant: 'a', user: LENA })).connection(crm)).toBe(2);
    await scopes.close();
    expect(closed).toEqual([1, 2]);
  });

  it('that cannot be opened is opened anew by the next call', async () => {
    const open = vi.fn(() => Promise.resolve('open'));
    open.mockRejectedValueOnce(new Error('refused'));
    const crm = defineConnection({ name: 'crm', open });
    const scopes = scopesOf();
    const owner = { tenant: 'a', user: LENA };
    await expect((await scopes.open(owner)).connection(crm)).rejects.toThrow('refused');
    expect(await (await scopes.open(owner)).connection(crm)).toBe('open');
  });

  it('per user is refused where there is no user', async () => {
    const scope = await scopesOf().open({ tenant: 'a' });
    await expect(
      scope.connection(defineConnection({ name: 'github', open: () => 1 })),
    ).rejects.toThrow('connection "github" is per user, and there is no user here');
  });

  it('names every field that breaks a rule', () => {
    const wrong = { name: '', per: 'team', open: 1, close: 1, idle: -1 };
    expect(() => defineConnection(wrong as never)).toThrow(
      /5 problems[\s\S]*name: [\s\S]*per: must be "tenant" or "user"[\s\S]*open: [\s\S]*close: [\s\S]*idle: /,
    );
  });
});

/** The container of services: typed by class or name, made in order, disposed of in reverse. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import {
  createServices,
  initColloquy,
  provide,
  type Services,
  serviceName,
} from '../../../src/index.js';
import { calls, says, script, testConversation } from '../../../src/testing/index.js';
import { promise } from '../../support/promise.js';

class Database {
  readonly url: string;
  isOpen = true;
  constructor(url: string) {
    this.url = url;
  }
}
abstract class Clock {
  abstract now(): number;
}
class FixedClock extends Clock {
  override now(): number {
    return 7;
  }
}
const url = serviceName<string>('database url');

function noted(log: string[], fails?: string) {
  const step = (name: string): void => {
    log.push(name);
    if (name === fails) throw new Error(`no ${name}`);
  };
  return [
    provide(url, () => 'db://here'),
    provide(
      Database,
      async (services) => {
        await Promise.resolve();
        step('open');
        return new Database(services.get(url));
      },
      (database) => {
        database.isOpen = false;
        step('close');
      },
    ),
    provide(Clock, () => {
      step('clock');
      return new FixedClock();
    }),
  ];
}

describe('a container of services', () => {
  it(
    'is ctx.services of tools, which get services by class or name, with their types',
    promise('C17'),
    async () => {
      const services = await createServices(noted([]));
      const { defineTool, defineAgent } = initColloquy<{ services: Services }>();
      const look = defineTool({
        name: 'look',
        description: 'Look',
        input: z.object({}),
        run: (_, ctx) => {
          const database = ctx.services.get(Database);
          expectTypeOf(database).toEqualTypeOf<Database>();
          expectTypeOf(ctx.services.get(url)).toEqualTypeOf<string>();
          return [database.url, ctx.services.get(Clock).now()];
        },
      });
      const model = script(calls('look', {}), says('ok'));
      const agent = defineAgent({ name: 'a', model, instructions: 'Help.', tools: [look] });
      const t = testConversation(agent, { services });
      await t.send('Look');
      expect(t.result('look')).toEqual({ ok: true, result: ['db://here', 7] });
    },
  );

  it('makes services in order and disposes of them in reverse, once', async () => {
    const log: string[] = [];
    const services = await createServices(noted(log));
    const database = services.get(Database);
    await services.dispose();
    await services.dispose();
    expect(log).toEqual(['open', 'clock', 'close']);
    expect([database.isOpen, services.has(Database)]).toEqual([false, false]);
  });

  it('replaces services by overrides, at their place', async () => {
    const log: string[] = [];
    const overrides = [provide(url, () => 'db://test'), provide(serviceName('extra'), () => 1)];
    const services = await createServices(noted(log), { overrides });
    expect(services.get(Database).url).toBe('db://test');
    expect(services.get(serviceName<number>('extra'))).toBe(1);
  });

  it('that cannot make a service disposes of those before it, and names it with the reason', async () => {
    const log: string[] = [];
    await expect(createServices(noted(log, 'clock'))).rejects.toMatchObject({
      ...{ name: 'ServiceError', message: 'Service Clock was not made: no clock' },
      cause: { message: 'no clock' },
    });
    expect(log).toEqual(['open', 'clock', 'close']);
  });

  it('disposes of all services also when one fails, and then says which', async () => {
    const log: string[] = [];
    const failing = provide(
      serviceName('first'),
      () => 1,
      () => {
        log.push('first');
      },
    );
    const services = await createServices([failing, ...noted(log, 'close')]);
    await expect(services.dispose()).rejects.toThrow(
      'Service Database was not disposed of: no close',
    );
    expect(log.at(-1)).toBe('first');
  });

  it('names a service that it does not have, and what it has', async () => {
    const services = await createServices([provide(url, () => 'x')]);
    expect(() => services.get(Database)).toThrow(
      'No service Database; made so far: "database url"',
    );
    await expect(
      createServices([provide(Database, (made) => made.get(Clock) as never)]),
    ).rejects.toThrow('Service Database was not made: No service Clock; made so far: none');
    await expect(
      createServices([provide(url, () => 'x'), provide(url, () => 'y')]),
    ).rejects.toThrow('Service "database url" is declared twice');
  });
});

/** An event log that can be down. */
import type { EventLog } from '../../../src/store/ports/log.js';
import { StoreUnavailable } from '../../../src/store/ports/log.js';

export interface BreakableLog {
  readonly log: EventLog;
  isDown: boolean;
  refused: number;
}

export function breakable(inner: EventLog): BreakableLog {
  const state = { isDown: false, refused: 0 };
  const log = new Proxy(inner, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return async (...args: unknown[]): Promise<unknown> => {
        if (state.isDown && name !== 'close') {
          state.refused += 1;
          throw new StoreUnavailable('the disk is gone');
        }
        return (await Reflect.apply(value, target, args)) as unknown;
      };
    },
  });
  return Object.assign(state, { log });
}

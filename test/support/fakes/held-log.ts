/** An event log whose calls can be held: every caller of the store waits until the calls are released. */
import type { EventLog } from '../../../src/store/ports/log.js';

export interface HeldLog {
  readonly log: EventLog;
  /** From now on every call waits. */
  hold(): void;
  release(): void;
}

export function held(inner: EventLog): HeldLog {
  let gate: Promise<void> | undefined;
  let open = (): void => undefined;
  const log = new Proxy(inner, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function' || name === 'close') return value;
      return async (...args: unknown[]): Promise<unknown> => {
        await gate;
        return (await Reflect.apply(value, target, args)) as unknown;
      };
    },
  });
  return {
    log,
    hold: () => {
      gate = new Promise((resolve) => {
        open = resolve;
      });
    },
    release: () => {
      gate = undefined;
      open();
    },
  };
}

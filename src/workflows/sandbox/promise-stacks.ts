/** Creates errors without a stack trace when the constructor gets no arguments. */

/**
 * Behaves like the given constructor otherwise: `instanceof`, subclasses, static members and errors with a message are
 * unchanged.
 */
export function disablePromiseStacks(traced: ErrorConstructor): ErrorConstructor {
  const own: ErrorConstructor = new Proxy(traced, {
    construct: (target, given: unknown[], newTarget) => {
      if (newTarget !== own) return Reflect.construct(target, given, newTarget) as object;
      if (given.length === 0) return Object.create(target.prototype) as object;
      return Reflect.construct(target, given) as object;
    },
  });
  return own;
}

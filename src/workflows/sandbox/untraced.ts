/** Errors without a trace where nobody asked for one: where no word is given to them. */

/** The same constructor to everybody: `instanceof`, subclasses, static members and errors with a message are as they were. */
export function untraced(traced: ErrorConstructor): ErrorConstructor {
  const own: ErrorConstructor = new Proxy(traced, {
    construct: (target, given: unknown[], newTarget) => {
      if (newTarget !== own) return Reflect.construct(target, given, newTarget) as object;
      if (given.length === 0) return Object.create(target.prototype) as object;
      return Reflect.construct(target, given) as object;
    },
  });
  return own;
}

const Traced = globalThis.Error;
const Own = new Proxy(Traced, {
  construct: (target, given, newTarget) => {
    if (newTarget !== Own) return Reflect.construct(target, given, newTarget);
    return given.length === 0 ? Object.create(target.prototype) : Reflect.construct(target, given);
  },
});
globalThis.Error = Own;

/** Which apps identify their callers by more than a development identity, so that they may leave loopback. */
const identified = new WeakSet<object>();

export function rememberIdentified(app: object, isIdentified: boolean): void {
  if (isIdentified) identified.add(app);
}

/** False for any app that is not made by `createApp`. */
export function isIdentified(app: object): boolean {
  return identified.has(app);
}

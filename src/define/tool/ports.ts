/** The things that a worker itself gives to tools and plugins, such as the spaces of its event log. Runs anywhere. */

/** Names something that a worker has. `Value` is for inference and has no value. */
export interface Port<Value> {
  readonly id: string;
  readonly '~value'?: Value;
}

/** Values by the id of their port. */
export type PortValues = Readonly<Record<string, unknown>>;

export interface PortAccess {
  /** The value that this worker has for a port. @throws {TypeError} when it has none */
  port<Value>(port: Port<Value>): Value;
}

export function portAccess(values: PortValues = {}): PortAccess {
  return {
    port: <Value>({ id }: Port<Value>): Value => {
      if (!Object.hasOwn(values, id)) throw new TypeError(`this worker has no ${id}`);
      return values[id] as Value;
    },
  };
}

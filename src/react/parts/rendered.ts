/** An element of React in the types of the package, which compile in a project without the types of React. */
export interface Rendered {
  readonly type: never;
  readonly props: never;
  readonly key: string | null;
}

/** @param node Any node of React */
export function rendered(node: unknown): Rendered {
  return node as Rendered;
}

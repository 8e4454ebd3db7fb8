/** One field of an input and the rule it breaks. `path` is a JSON Pointer into the value. */
export interface FieldProblem {
  readonly path: string;
  readonly message: string;
}

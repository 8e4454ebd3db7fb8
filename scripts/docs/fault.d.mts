/** Types of the checks of documents, for their tests. */
export interface Fault {
  readonly line: number;
  readonly message: string;
}

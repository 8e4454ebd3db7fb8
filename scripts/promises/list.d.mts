/** Types of list.mjs, for tests. */
export interface ListedPromise {
  readonly id: string;
  /** Texts of a guarantee: the event, and its effect for the user. */
  readonly when?: string;
  readonly user?: string;
  /** Text of a requirement. */
  readonly words?: string;
  /** The smallest number of tests that must have run. */
  readonly tests?: number;
  /** Promises whose tests show this rule. */
  readonly by?: readonly string[];
  /** Reasons for which no test shows it, or not all of it. */
  readonly later?: string;
  readonly notApplicable?: string;
  readonly withdrawn?: string;
}
export interface Topic {
  readonly topic: string;
  readonly columns: readonly string[];
  readonly file: string;
  readonly promises: readonly ListedPromise[];
}
export interface PromiseLists {
  readonly guarantees: readonly Topic[];
  readonly requirements: readonly Topic[];
}
export interface ListFault {
  readonly file: string;
  readonly message: string;
}
export function readPromises(folder?: string): PromiseLists;
export function strayFiles(folder?: string): readonly string[];
export function allPromises(lists: PromiseLists): readonly ListedPromise[];
export function listFaults(lists: PromiseLists): readonly ListFault[];
export function isShown(promise: ListedPromise): boolean;

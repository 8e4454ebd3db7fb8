/** The producer of a call's result. */
export type Executor = 'server' | 'human' | 'client' | 'external' | 'provider' | 'internal';

/** The wait of a call whose result comes from outside. */
export type OutsideWait = 'elicitation' | 'client_execution' | 'external_execution';

/** `activity`: a worker runs the call. `input`: its input is the result. `model_call`: the provider has run it. */
export type ExecutorRow = {
  /** Whether a call may wait for an approval before. */
  readonly mayBeGated: boolean;
} & (
  | { readonly result: 'activity' | 'input' | 'model_call' }
  | { readonly result: 'outside'; readonly wait: OutsideWait }
);

/**
 * Everything that depends on the executor of a call once it is planned: the dispatch, the wait with those who may end
 * it, and what is shown. A new executor is a row here, and fields of a definition.
 *
 * An answer of a person is a decision already, and nothing can be held inside a model call: so these two have no gate.
 */
export const EXECUTOR_TABLE = {
  server: { mayBeGated: true, result: 'activity' },
  human: { mayBeGated: false, result: 'outside', wait: 'elicitation' },
  client: { mayBeGated: true, result: 'outside', wait: 'client_execution' },
  external: { mayBeGated: true, result: 'outside', wait: 'external_execution' },
  provider: { mayBeGated: false, result: 'model_call' },
  internal: { mayBeGated: true, result: 'input' },
} as const satisfies Readonly<Record<Executor, ExecutorRow>>;

export const EXECUTORS = Object.keys(EXECUTOR_TABLE) as readonly Executor[];

/** @throws {TypeError} for an executor of a newer version */
export function rowOf(executor: Executor): ExecutorRow {
  const row = knownRow(executor);
  if (row === undefined) throw new TypeError(`unknown executor ${executor}`);
  return row;
}

/** Whether a call of the executor waits for input from outside, besides its approval. */
export function waitsOutside(executor: Executor): boolean {
  return knownRow(executor)?.result === 'outside';
}

/** Whether a call of the executor is work of a worker, and not of an outside party. */
export function isRunByWorker(executor: Executor): boolean {
  return knownRow(executor)?.result === 'activity';
}

/** Readers get calls of newer versions as well. */
function knownRow(executor: Executor): ExecutorRow | undefined {
  const table: Readonly<Partial<Record<Executor, ExecutorRow>>> = EXECUTOR_TABLE;
  return table[executor];
}

export type ToolMode = 'await' | 'detach';

export type Effects = 'none' | 'idempotent' | 'once';

export type LateResult = 'reject' | 'inbox';

/** How much harm a call can do, as its tool declares. The engine decides nothing by it. */
export type Risk = 'low' | 'medium' | 'high';

export const RISKS = ['low', 'medium', 'high'] as const satisfies readonly Risk[];

/** The fields of a tool that are only shown: to people who decide about its calls, and in lists. */
export interface ToolLabels {
  /** A name for people. Absent: the tool's name. */
  readonly title?: string;
  /** Absent: the tool declares none. */
  readonly risk?: Risk;
}

/** The labels that are declared, and no other field. */
export function labelsOf({ title, risk }: ToolLabels): ToolLabels {
  return { ...(title === undefined ? {} : { title }), ...(risk === undefined ? {} : { risk }) };
}

/** The producer of a call's result. */
export type Executor = 'server' | 'human' | 'client' | 'external' | 'provider' | 'internal';

export const EXECUTORS: readonly Executor[] = [
  'server',
  'human',
  'client',
  'external',
  'provider',
  'internal',
];

export type ToolMode = 'await' | 'detach';

export type Effects = 'none' | 'idempotent' | 'once';

export type LateResult = 'reject' | 'inbox';

/**
 * Whether calls of an executor may be gated by an approval. `human`: no, since the answer is a decision already.
 * `provider`: no, since the call runs inside the model call, where nothing can be held.
 */
export const MAY_BE_GATED: Readonly<Record<Executor, boolean>> = {
  server: true,
  client: true,
  external: true,
  internal: true,
  human: false,
  provider: false,
};

/** Whether a call of the executor waits for input from outside, besides its approval. */
export const WAITS_OUTSIDE: Readonly<Record<Executor, boolean>> = {
  server: false,
  human: true,
  client: true,
  external: true,
  provider: false,
  internal: false,
};

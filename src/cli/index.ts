/** Entry `colloquy/dev`: the development stack as a library, for demos and end-to-end tests. */

export type { DevFlags } from './dev/dev-command.js';
export { runDev } from './dev/dev-command.js';
export type { Stack, StackOptions } from './dev/stack.js';
export { startStack } from './dev/stack.js';
export type { Child, ChildOptions } from './process/child.js';
export { startChild } from './process/child.js';
export type {
  StopOptions,
  TemporalServer,
  TemporalServerOptions,
} from './temporal/temporal-server.js';
export { ensureTemporal } from './temporal/temporal-server.js';

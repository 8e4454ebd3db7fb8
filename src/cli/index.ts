/** Entry `colloquy/dev`: the development stack as a library, for demos and end-to-end tests. */
export type { Child, ChildOptions } from './child.js';
export { startChild } from './child.js';
export type { DevFlags } from './dev-command.js';
export { runDev } from './dev-command.js';
export type { Stack, StackOptions } from './stack.js';
export { startStack } from './stack.js';

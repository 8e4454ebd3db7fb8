/**
 * Keeps the SDK from taking a stack trace for every promise of a workflow. The SDK takes them for the `__stack_trace`
 * query, as `new Error().stack` of the sandbox in a hook of promises, and resolves each frame through the source map: a
 * third of the remaining cost of a step (decision 28). Thrown errors keep their trace, because they have a message. This
 * module is preloaded, because it must run before everything else in the sandbox.
 */
import { disablePromiseStacks } from './promise-stacks.js';

globalThis.Error = disablePromiseStacks(Error);

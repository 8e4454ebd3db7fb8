/**
 * Keeps the SDK from taking a stack trace for every promise that a workflow makes. It takes them for the `__stack_trace` query, as
 * `new Error().stack` of the sandbox in a hook of promises, and resolves each frame through the source map: a third of what is
 * left of a step (decision 28). What shows in the Temporal UI instead are the current details. Errors that are thrown have
 * their trace as ever: they have a message. Preloaded, for it comes before everything else of the sandbox.
 */
import { untraced } from './untraced.js';

globalThis.Error = untraced(Error);

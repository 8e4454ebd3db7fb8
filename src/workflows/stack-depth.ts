/**
 * How deep stack traces go in the sandbox. The SDK takes one for every promise that a workflow makes, and resolves each of its
 * frames through the source map; V8 takes ten frames unless told otherwise, which is a fifth of what a turn costs a worker. Five still
 * show where an error came from. Built-in objects are frozen before the first workflow, so this has to be preloaded.
 */
declare global {
  interface ErrorConstructor {
    stackTraceLimit: number;
  }
}

Error.stackTraceLimit = 5;

export {};

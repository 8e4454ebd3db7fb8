/** Values that the global setup gives to component tests. */
declare module 'vitest' {
  interface ProvidedContext {
    /** The Content-Security-Policy of the web page. */
    readonly pagePolicy: string;
  }
}

export {};

/** `colloquy/tool-worker`: runs tools of another backend, over HTTP. Adding here is public. */
export type {
  ToolCallContext,
  ToolContract,
  ToolContracts,
  ToolContractsOf,
  ToolHandler,
  ToolWorker,
  ToolWorkerFailure,
  ToolWorkerFailureKind,
  ToolWorkerOptions,
} from './types.js';
export { createToolWorker } from './worker.js';

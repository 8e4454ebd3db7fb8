/**
 * Public entry point `colloquy/browser/operations`: the view of operators. Every name here is public: it changes by the
 * rules of the changelog only.
 */
export type {
  DeadLetter,
  NeedsAttention,
  OperationsAnswer,
  SeenLog,
  SeenPart,
  SeenPass,
  SeenSweep,
  SeenTroubles,
  SeenWaits,
  SeenWebhooks,
  SeenWorker,
  SeenWorkers,
  TroubleReason,
  WorkerKilled,
  WorkerState,
} from '../../protocol/log/operations.js';
export { killWorker, operationsOf, type WaitingCalls, waitingCalls } from './requests.js';

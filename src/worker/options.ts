/** Options of `createColloquyWorker`. */
import type { WorkerOptions } from '@temporalio/worker';
import type { AuditLevel } from '../activities/shared/deps.js';
import type { Agent } from '../define/define-agent.js';
import type { Logger } from '../define/tool/context.js';
import type { BlobChoice, EventLogChoice } from '../projection/source/open-log.js';
import type { RetentionOptions } from './retention.js';
import type { TemporalSettings } from './temporal/connection.js';

export interface ColloquyWorkerOptions<Services> {
  readonly agents: readonly Agent<Services>[];
  /** Handed to every tool as `ctx.services`; never enters history. */
  readonly services: Services;
  /** Event log file, address of a Postgres database (or `{url, schema, maxConnections}`), or adapters. */
  readonly eventLog: EventLogChoice;
  /**
   * Where values go that are too large for events; every process of an application must be told the same.
   * @defaultValue 'event-log', beside the events
   */
  readonly blobs?: BlobChoice | undefined;
  /** How long what is over is kept. @defaultValue for ever */
  readonly retention?: RetentionOptions | undefined;
  /** Where Temporal is. @defaultValue Temporal's own environment, else 127.0.0.1:7233 */
  readonly temporal?: TemporalSettings | undefined;
  /** @defaultValue "colloquy" */
  readonly taskQueue?: string | undefined;
  /** False where the server has no search attributes; clients must be told the same. @defaultValue true */
  readonly searchAttributes?: boolean | undefined;
  /** Compress payloads of more than 8 KB. Compressed ones are read in any case. @defaultValue true */
  readonly compression?: boolean | undefined;
  /**
   * What is kept of every request to a model, beside what the log of its conversation has: `records` are lines of the logger (`model call`,
   * with `audit: 'model_call'`), `full` stores request and answer as well, as a blob of the conversation that the line names.
   * @defaultValue 'off'
   */
  readonly audit?: 'off' | AuditLevel | undefined;
  /** Keep trying to reach Temporal for this long at start. @defaultValue 0 */
  readonly retryForMs?: number | undefined;
  /** Worker Deployment of this build; conversations then move to new builds at their next task (`AUTO_UPGRADE`). */
  readonly deployment?: { readonly name: string; readonly buildId: string } | undefined;
  readonly logger?: Logger | undefined;
  /** Bytes of transcripts that this worker remembers between model calls; 0 = none, every one is asked for. @defaultValue 64 MiB */
  readonly transcriptCacheBytes?: number | undefined;
  /** Running model calls and tools get this long at SIGTERM. @defaultValue 60 s */
  readonly shutdownGraceMs?: number | undefined;
  /** Any other option of Temporal's worker; wins over ours. */
  readonly tuning?: Partial<WorkerOptions> | undefined;
}

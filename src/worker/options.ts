/** Options of `createColloquyWorker`. */
import type { WorkerOptions } from '@temporalio/worker';
import type { AuditLevel } from '../activities/shared/deps.js';
import type { TemporalSettings } from '../client/temporal/connection.js';
import type { Agent, AgentCatalog } from '../define/define-agent.js';
import type { TenantServices } from '../define/services/per-tenant.js';
import type { SecretResolver } from '../define/services/secrets.js';
import type { Logger } from '../define/tool/context.js';
import type { AllowPrivate } from '../net/guarded/addresses.js';
import type { ProbeAddress } from '../net/probe-server.js';
import type { BlobChoice, EventLogChoice } from '../projection/source/open-log.js';
import { MIN_RETENTION_MS } from '../protocol/limits/service-limits.js';
import { type Duration, durationMs, durationProblem } from '../protocol/values/durations.js';
import type { DeliverWebhook } from '../webhooks/attempt.js';
import type { ConfiguredEndpoint } from '../webhooks/endpoints.js';

export interface ColloquyWorkerOptions<Services> {
  readonly agents: readonly Agent<Services>[];
  /** Agents besides these, which change while the worker runs. @defaultValue there are none */
  readonly catalog?: AgentCatalog<Services> | undefined;
  /** Handed to every tool as `ctx.services`; never enters history. `perTenant(...)`: each tenant has its own. */
  readonly services: Services | TenantServices<Services>;
  /** Finds the secrets of tenants and users for `ctx.secret(name)`. @defaultValue there are none */
  readonly secrets?: SecretResolver | undefined;
  /** Event log file, address of a Postgres database (or `{url, schema, maxConnections}`), or adapters. */
  readonly eventLog: EventLogChoice;
  /**
   * Where values go that are too large for events. Every process of an application must use the same setting.
   * @defaultValue 'event-log', beside the events
   */
  readonly blobs?: BlobChoice | undefined;
  /** How long closed conversations are kept. @defaultValue forever */
  readonly retention?: RetentionOptions | undefined;
  /** How to reach Temporal. @defaultValue Temporal's own environment, else 127.0.0.1:7233 */
  readonly temporal?: TemporalSettings | undefined;
  /** @defaultValue "colloquy" */
  readonly taskQueue?: string | undefined;
  /** False when the server has no search attributes; clients must use the same setting. @defaultValue true */
  readonly searchAttributes?: boolean | undefined;
  /** The option `pageUrl` of clients, for the conversations that workers begin: those of sub-agents and spaces. */
  readonly pageUrl?: string | undefined;
  /**
   * Addresses of the API, such as `http://127.0.0.1:8080`, each as this worker would reach it. Requests of HTTP tools
   * that lead there are refused, also by a redirect, and where `allowPrivate` allows the address: no tool approves a
   * call, its own or another.
   * @defaultValue each API that `serve` of `colloquy/http` runs in this process, which is refused in any case
   */
  readonly apiUrls?: readonly string[] | undefined;
  /** Compress payloads of more than 8 KB. Compressed ones are read in any case. @defaultValue true */
  readonly compression?: boolean | undefined;
  /**
   * How much is kept of every request to a model, beside the log of its conversation: `records` writes lines to the
   * logger (`model call`, with `audit: 'model_call'`); `full` also stores request and answer, as a blob of the
   * conversation that the line names.
   * @defaultValue 'off'
   */
  readonly audit?: 'off' | AuditLevel | undefined;
  /** Milliseconds for which Temporal, and before it Postgres, is tried at the start. @defaultValue 0: one try each */
  readonly retryForMs?: number | undefined;
  /** Worker Deployment of this build; conversations then move to new builds at their next task (`AUTO_UPGRADE`). */
  readonly deployment?: { readonly name: string; readonly buildId: string } | undefined;
  readonly logger?: Logger | undefined;
  /** Webhooks that this worker sends; `false`: none, another process does. @defaultValue those of the store */
  readonly webhooks?: WorkerWebhooks | false | undefined;
  /**
   * Serves `/healthz` (the process is up) and `/readyz` (200 while the worker polls, Temporal answers and the store can
   * be written; else 503 with the reasons) for probes: on loopback, unless a host is given. Each worker of a machine
   * needs a port of its own. @defaultValue none
   */
  readonly health?: ProbeAddress | undefined;
  /**
   * Bytes of transcripts that this worker remembers between model calls; 0 = none, each one is queried. @defaultValue
   * 64 MiB
   */
  readonly transcriptCacheBytes?: number | undefined;
  /** Running model calls and tools get this long at SIGTERM. @defaultValue 60 s */
  readonly shutdownGraceMs?: number | undefined;
  /**
   * Runs workflows with the SDK's time limit around each step, and with the stack traces of promises that "Call stack"
   * in the Temporal UI shows. Costs about 3 ms of CPU a turn, and some seconds at start, in which the workflow bundle is
   * built. @defaultValue false
   */
  readonly sdkGuards?: boolean | undefined;
  /** Any other option of Temporal's worker; overrides the engine's own. */
  readonly tuning?: Partial<WorkerOptions> | undefined;
}

export interface WorkerWebhooks {
  /** Endpoints besides those that the API or `colloquy webhooks` has created. They stay when they are left out later. */
  readonly endpoints?: readonly ConfiguredEndpoint[] | undefined;
  /**
   * Takes every event in place of an HTTP request, in order for each conversation. Resolves when it is done, within 15
   * seconds; a rejection is tried again, as for a receiver. Events may come twice, with the same id.
   */
  readonly deliver?: DeliverWebhook | undefined;
  /**
   * Addresses of the worker's own network that endpoints may have: `true` for all, or addresses, ranges and host names.
   * @defaultValue none
   */
  readonly allowPrivate?: AllowPrivate | undefined;
}

export interface RetentionOptions {
  /** Conversations that were closed longer ago are deleted: `'30 days'`, or milliseconds; at least a minute. */
  readonly closedAfter: Duration;
}

const BOUNDS = { minMs: MIN_RETENTION_MS, maxMs: Number.MAX_SAFE_INTEGER };

/** Returns milliseconds; undefined = forever. @throws {TypeError} that names the field and the rule. */
export function retentionMs(retention: RetentionOptions | undefined): number | undefined {
  if (retention === undefined) return undefined;
  const problem = durationProblem(retention.closedAfter, BOUNDS);
  if (problem !== undefined) throw new TypeError(`retention.closedAfter ${problem}`);
  return durationMs(retention.closedAfter);
}

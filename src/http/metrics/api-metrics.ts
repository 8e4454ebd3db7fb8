/**
 * Counts the requests of an API process, and reads what waits from the event log when the metrics are asked for. Labels
 * have few values: routes as the router has them, verdicts and codes of their tables; never an id.
 */
import type { Request, RequestHandler, Response } from 'express';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { VERDICT_HTTP_STATUS } from '../../protocol/calls/resolutions.js';
import { SUSPENSION_KINDS } from '../../protocol/calls/suspensions.js';
import { FAILURES } from '../../protocol/failures/failures.js';
import { isRecord } from '../../protocol/values/json.js';
import type { LogCounts } from '../../store/ports/service/counts.js';
import type { DeliveryCounts } from '../../store/ports/webhooks.js';
import { API_METRICS, type ApiMetricName } from './table.js';

/** Seconds; a request with `wait=result` lasts up to 30. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Milliseconds for which counts of the event log are kept: scrapes of several servers make one read. */
const KEPT_MS = 10_000;
/** Milliseconds after which the event log counts as unavailable. */
const READ_DEADLINE_MS = 2_000;

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The parts of the app whose state is shown. */
export interface MetricSources {
  readonly streams: { readonly count: number };
  /** Absent: the gauges of the event log are not known. */
  readonly counts?: (() => Promise<LogCounts>) | undefined;
  /** Absent: the gauges of webhooks are not known. */
  readonly outbox?: (() => Promise<DeliveryCounts>) | undefined;
}

interface Counts {
  readonly log: LogCounts | undefined;
  readonly outbox: DeliveryCounts | undefined;
}

interface Counted {
  readonly at: number;
  readonly counts: Promise<Counts>;
}

/** The metrics of one app made by `createApp({ metrics })`. Beside its own it has those of the Node process. */
export class ApiMetrics {
  readonly #registry = new Registry();
  readonly #counters = new Map<ApiMetricName, Counter>();
  readonly #gauges = new Map<ApiMetricName, Gauge>();
  readonly #durations: Histogram;
  #sources: MetricSources | undefined;
  #counted: Counted | undefined;

  constructor() {
    const registers = [this.#registry];
    for (const [key, { type, labels, meaning }] of Object.entries(API_METRICS)) {
      const name = key as ApiMetricName;
      const given = { name, help: meaning, labelNames: labels, registers };
      if (type === 'counter') this.#counters.set(name, new Counter(given));
      if (type === 'gauge') this.#gauges.set(name, new Gauge(given));
    }
    this.#durations = new Histogram({
      name: 'colloquy_http_request_seconds' satisfies ApiMetricName,
      help: API_METRICS.colloquy_http_request_seconds.meaning,
      labelNames: API_METRICS.colloquy_http_request_seconds.labels,
      buckets: BUCKETS,
      registers,
    });
    collectDefaultMetrics({ register: this.#registry });
  }

  /** Type of the text, for the header of an answer. */
  get contentType(): string {
    return this.#registry.contentType;
  }

  /** In the text format of Prometheus. Resolves also while the event log is unavailable. */
  async text(): Promise<string> {
    this.#set('colloquy_http_streams_open', this.#sources?.streams.count ?? 0);
    const { log, outbox } = await this.#recentCounts();
    this.#show(log);
    this.#showOutbox(outbox);
    return await this.#registry.metrics();
  }

  /** For `createApp`. */
  follow(sources: MetricSources): void {
    this.#sources = sources;
  }

  /** Counts each request when it is over. For `createApp`; must stand before everything that answers. */
  observe(): RequestHandler {
    return (request, response, next) => {
      const startedAt = performance.now();
      this.#readBodies(request, response);
      response.once('close', () => {
        const method = METHODS.has(request.method) ? request.method : 'other';
        const route = routeOf(request);
        const status = response.headersSent ? String(response.statusCode) : 'aborted';
        this.#count('colloquy_http_requests_total', { method, route, status });
        if (!isStream(response))
          this.#durations.observe({ method, route }, (performance.now() - startedAt) / 1_000);
      });
      next();
    };
  }

  /** Verdicts, queued inputs and problems are in the bodies of answers alone. */
  #readBodies(request: Request, response: Response): void {
    const json = response.json.bind(response);
    response.json = (body: unknown) => {
      if (isRecord(body)) this.#countBody(request, body);
      return json(body);
    };
  }

  #countBody(request: Request, body: Readonly<Record<string, unknown>>): void {
    const { verdict, status, code, results } = body;
    if (Array.isArray(results))
      for (const result of results) if (isRecord(result)) this.#countBody(request, result);
    const route = routeOf(request);
    if (
      typeof verdict === 'string' &&
      (verdict === 'not_ready' || Object.hasOwn(VERDICT_HTTP_STATUS, verdict))
    )
      this.#count('colloquy_verdicts_total', { request: route.split('/').at(-1) ?? '', verdict });
    if (status === 'queued' || verdict === 'queued')
      this.#count('colloquy_queued_total', { route });
    if (typeof code === 'string' && typeof status === 'number' && Object.hasOwn(FAILURES, code))
      this.#count('colloquy_http_problems_total', { code });
  }

  #recentCounts(): Promise<Counts> {
    const now = performance.now();
    if (this.#counted === undefined || now - this.#counted.at > KEPT_MS)
      this.#counted = { at: now, counts: countsOf(this.#sources) };
    return this.#counted.counts;
  }

  #show(counts: LogCounts | undefined): void {
    // Absent: this app counts nothing in a store.
    if (this.#sources?.counts !== undefined)
      this.#set('colloquy_store_up', counts === undefined ? 0 : 1);
    this.#set('colloquy_conversations_failing', counts?.failing ?? Number.NaN);
    this.#set('colloquy_conversations_slow', counts?.slow ?? Number.NaN);
    for (const kind of SUSPENSION_KINDS) {
      const counted = counts?.waits.find((each) => each.kind === kind);
      const none = counts === undefined ? Number.NaN : 0;
      const oldest = counted === undefined ? none : (Date.now() - counted.oldestOpenedAtMs) / 1_000;
      this.#set('colloquy_waits_open', counted?.open ?? none, { kind });
      this.#set('colloquy_waits_overdue', counted?.overdue ?? none, { kind });
      this.#set('colloquy_waits_oldest_seconds', Math.max(0, oldest), { kind });
    }
  }

  #showOutbox(counts: DeliveryCounts | undefined): void {
    const none = counts === undefined ? Number.NaN : 0;
    const oldestAtMs = counts?.oldestPendingAtMs;
    const oldest = oldestAtMs === undefined ? none : Math.max(0, Date.now() - oldestAtMs) / 1_000;
    this.#set('colloquy_webhooks_pending', counts?.pending ?? none);
    this.#set('colloquy_webhooks_dead', counts?.dead ?? none);
    this.#set('colloquy_webhooks_oldest_seconds', oldest);
  }

  #count(name: ApiMetricName, labels: Readonly<Record<string, string>>): void {
    this.#counters.get(name)?.inc(labels);
  }

  #set(name: ApiMetricName, value: number, labels: Readonly<Record<string, string>> = {}): void {
    this.#gauges.get(name)?.set(labels, value);
  }
}

async function countsOf(sources: MetricSources | undefined): Promise<Counts> {
  const [log, outbox] = await Promise.all([inTime(sources?.counts), inTime(sources?.outbox)]);
  return { log, outbox };
}

/** Undefined when the event log does not answer in time. */
async function inTime<Value>(
  count: (() => Promise<Value>) | undefined,
): Promise<Value | undefined> {
  const read = count?.();
  if (read === undefined) return undefined;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => {
      resolve(undefined);
    }, READ_DEADLINE_MS);
  });
  try {
    return await Promise.race([read.catch(() => undefined), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The path as the router has it, without the place where an application has mounted it: that may hold ids. */
function routeOf(request: Request): string {
  const { path } = (request.route ?? {}) as { readonly path?: unknown };
  return typeof path === 'string' ? path : 'none';
}

function isStream(response: Response): boolean {
  return String(response.getHeader('content-type')).startsWith('text/event-stream');
}

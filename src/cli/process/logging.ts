/** Structured logs of the processes: pino behind the engine's own logger type, and behind Temporal's runtime. */
import { DefaultLogger, type LogMetadata, Runtime } from '@temporalio/worker';
import { type Logger as Pino, pino } from 'pino';
import type { Logger } from '../../define/tool/context.js';
import { stderrLines } from '../../logs/destination.js';
import { type LineStyle, styleFor } from '../../logs/line-style.js';
import { withoutOpaque, withoutTokens } from '../../logs/opaque.js';
import { LAG_BUCKETS, LAG_HISTOGRAM } from '../../worker/watch/event-metrics.js';
import { MODEL_BUCKETS, MODEL_HISTOGRAM } from '../../worker/watch/model-metrics.js';
import { type Config, ConfigError } from './config.js';

type LogConfig = Pick<Config, 'logLevel' | 'logForm'>;

export function createPino(config: LogConfig, name: string): Pino {
  return pino({ name, level: config.logLevel }, stderrLines(stderrStyle(config)));
}

/** The style of lines on standard error. */
export function stderrStyle({ logForm }: Pick<Config, 'logForm'>): LineStyle {
  return styleFor(process.stderr, logForm);
}

export function loggerOf(log: Pino): Logger {
  return {
    debug: (message, fields) => {
      log.debug(fields ?? {}, message);
    },
    info: (message, fields) => {
      log.info(fields ?? {}, message);
    },
    warn: (message, fields) => {
      log.warn(fields ?? {}, message);
    },
    error: (message, fields) => {
      log.error(fields ?? {}, message);
    },
  };
}

/**
 * The fields of one of Temporal's log lines, with the message of an error, which JSON would leave out, and without the
 * tokens of tasks.
 */
export function runtimeLine(meta: LogMetadata | undefined): Readonly<Record<string, unknown>> {
  const error: unknown = meta?.['error'];
  if (!(error instanceof Error)) return { ...withoutOpaque(meta ?? {}), temporal: true };
  const { type } = error as { readonly type?: unknown };
  const { name, message } = error;
  const shown = { ...meta, error: Object.assign({}, error, { type: type ?? name, message }) };
  return { ...withoutOpaque(shown), temporal: true };
}

/** Writes Temporal's own log lines to the given logger. */
export function runtimeLogger(log: Pino): DefaultLogger {
  return new DefaultLogger('WARN', ({ level, message, meta }) => {
    const line = runtimeLine(meta);
    const text = withoutTokens(message);
    if (level === 'ERROR') log.error(line, text);
    else log.warn(line, text);
  });
}

/**
 * Routes Temporal's own log lines to the given logger, and serves its metrics at an address; must run before anything of
 * the worker package is used.
 */
export function installRuntime(log: Pino, metrics?: string): void {
  const options = {
    logger: runtimeLogger(log),
    telemetryOptions: {
      logging: { forward: {}, filter: 'ERROR' },
      ...(metrics === undefined
        ? {}
        : {
            metrics: {
              prometheus: {
                bindAddress: metrics,
                countersTotalSuffix: true,
                histogramBucketOverrides: {
                  [LAG_HISTOGRAM]: LAG_BUCKETS,
                  [MODEL_HISTOGRAM]: MODEL_BUCKETS,
                },
              },
            },
          }),
    },
    // The worker's own shutdown drains the projector first; Temporal's would stop the worker at once.
    shutdownSignals: [],
  };
  try {
    Runtime.install(options);
  } catch (error) {
    if (metrics === undefined) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`COLLOQUY_METRICS: metrics cannot be served at ${metrics}: ${reason}`);
  }
}

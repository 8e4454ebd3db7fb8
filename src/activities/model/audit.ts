/**
 * The audit of model calls: records every request to a model, and its content, when the worker is configured to keep
 * them.
 */
import { Context } from '@temporalio/activity';
import { withCost } from '../../model/shared/cost.js';
import { toModelFailure } from '../../model/shared/failure.js';
import type { Usage } from '../../protocol/conversation/turns.js';
import { MAX_BLOB_BYTES } from '../../protocol/limits/service-limits.js';
import { auditText } from '../../protocol/model/audits.js';
import type {
  Model,
  ModelCaller,
  ModelRequest,
  ModelResponse,
} from '../../protocol/model/model.js';
import type { ConversationKey } from '../../protocol/values/ids.js';
import { utf8Bytes } from '../../protocol/values/json.js';
import { shownTool } from '../../tools/model-input/definition.js';
import type { ActivityTools } from '../shared/deps.js';
import { stored } from '../transcript/stored-results.js';
import { timed } from './latency.js';
import type { RequestMeter } from './request-meter.js';

export interface AuditedCall extends ConversationKey {
  readonly purpose: NonNullable<ModelCaller['purpose']>;
  readonly agent: string;
  /** The part of the application that the call is counted for. */
  readonly feature: string;
  readonly model: Model;
  /** Number of the attempt, from 1, over all activities of the call. */
  readonly attempt: number;
  readonly turnId?: string;
  readonly step?: number;
}

type AuditContent = Parameters<typeof auditText>[1];

interface StoredContent {
  readonly blob?: string;
  readonly notStored?: string;
}

interface Asked {
  readonly request: ModelRequest;
  readonly run: () => Promise<ModelResponse>;
  /** Measures the usage of a request that fails. */
  readonly meter: RequestMeter;
  /** Called with the id of the stored value that has an answered request. */
  readonly onStored?: (id: string) => void;
}

/**
 * Runs one request, measures it, and keeps a record of it, however it ends. An unavailable store loses the content of
 * the record, never the call.
 */
export async function audited(
  tools: ActivityTools,
  call: AuditedCall,
  { request, meter, run: ask, onStored }: Asked,
): Promise<ModelResponse> {
  const signal = Context.current().cancellationSignal;
  const run = (): Promise<ModelResponse> =>
    timed(tools.measure, { model: call.model.name, signal, run: ask });
  if (tools.audit === undefined) return run();
  const startedAt = performance.now();
  const latencyMs = (): number => Math.round(performance.now() - startedAt);
  try {
    const response = await run();
    const took = { latencyMs: latencyMs() };
    const { usage, finishReason, model } = response;
    const blob = await record(tools, call, {
      said: {
        ...{ outcome: 'answered', answeredBy: model, finishReason, ...took },
        usage: withCost(usage, call.model.prices),
      },
      content: { request: shownRequest(request), response },
    });
    if (blob !== undefined) onStored?.(blob);
    return response;
  } catch (error) {
    const took = { latencyMs: latencyMs() };
    const isAborted = signal.aborted;
    const outcome = isAborted ? 'aborted' : codeOf(error);
    const usage = meter.usage(isAborted ? undefined : toModelFailure(error).code);
    await record(tools, call, {
      said: {
        ...{ outcome, ...took },
        ...tookOf(usage, { call, continues: meter.continues }),
      },
      // A cancelled call does not wait for the store.
      ...(isAborted ? {} : { content: { request: shownRequest(request), error: outcome } }),
    });
    throw error;
  }
}

/**
 * The usage of a failed request. A request that keeps running at the provider is counted by the attempt that receives
 * its answer.
 */
function tookOf(
  usage: Usage | undefined,
  { call, continues }: { readonly call: AuditedCall; readonly continues: boolean },
): object {
  if (continues) return { continues };
  return usage === undefined ? {} : { usage: withCost(usage, call.model.prices) };
}

/** Resolves to the id of the stored value, if there is one. */
async function record(
  tools: ActivityTools,
  call: AuditedCall,
  kept: {
    readonly said: Readonly<Record<string, unknown>> & { readonly outcome: string };
    readonly content?: AuditContent;
  },
): Promise<string | undefined> {
  const { model, ...about } = call;
  const content: StoredContent = tools.audit === 'full' ? await contentOf(tools, call, kept) : {};
  tools.logger.info('model call', {
    audit: 'model_call',
    ...about,
    model: model.name,
    ...kept.said,
    ...content,
  });
  return content.blob;
}

async function contentOf(
  tools: ActivityTools,
  { tenant, conversationId, turnId = '', step = 0, attempt, purpose }: AuditedCall,
  { said, content }: Parameters<typeof record>[2],
): Promise<StoredContent> {
  if (content === undefined) return {};
  const { outcome } = said;
  const text = auditText({ turnId, step, attempt, purpose, outcome }, content);
  if (utf8Bytes(text) > MAX_BLOB_BYTES) return { notStored: 'too large' };
  const blob = { type: 'application/json', content: Buffer.from(text) } as const;
  const ref = await stored(tools, { tenant, conversationId }, blob);
  return ref === undefined ? { notStored: 'the store did not take it' } : { blob: ref.id };
}

/** The request without the configuration of provider tools, which may hold credentials and is never recorded. */
function shownRequest(request: ModelRequest): unknown {
  return { ...request, tools: request.tools.map(shownTool) };
}

/** The code of a failure, without its text, which may quote secrets. */
function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : 'failed';
}

/**
 * Runs a tool that is an HTTP request: one request per run, and one result or one error that a model can read. Runs in
 * the worker.
 */
import { type CallContext, toolError } from '../../define/tool/context.js';
import type { HttpPlan } from '../../define/tool/http-plan.js';
import { ToolRetry } from '../../define/tool/retry.js';
import type { AnyTool } from '../../define/tool/types.js';
import type { Json } from '../../protocol/values/json.js';
import { mapped, readAnswer } from './answer.js';
import { type Connections, withConnections } from './connections.js';
import { HttpProblem, problemOf } from './problem.js';
import { type HttpRequest, requestOf } from './request.js';
import { Secrets } from './secrets.js';
import { send } from './send.js';

type HttpTool = AnyTool & { readonly http: HttpPlan };

export interface RunsHttp {
  readonly ctx: CallContext<never>;
  /** Addresses of the API of this installation, which are never reached. Absent: none is known. */
  readonly apiUrls: readonly string[] | undefined;
}

/**
 * | what happens | what the run does |
 * |---|---|
 * | an ok status, with a readable body | returns the value of `result` |
 * | 408, 425, 429, 5xx, a failed connection | requests another attempt, unless the tool's effects are `once` |
 * | any other status, a body of another kind or too large, a refused redirect or address | returns an error |
 * | the run's time is over, the turn is cancelled | the connection is closed |
 *
 * @throws ToolRetry for another attempt; errors of the definition's functions
 */
export async function runHttp(
  tool: HttpTool,
  input: Json,
  { ctx, apiUrls }: RunsHttp,
): Promise<unknown> {
  const { http } = tool;
  const secrets = new Secrets(ctx);
  try {
    const request = await requestOf(http, input, { ctx, secrets });
    const answer = await withConnections(tool, { secrets, apiUrls }, (connections) =>
      answerTo(request, { tool, ctx, secrets, connections }),
    );
    return mapped(http, answer);
  } catch (error) {
    // An abort keeps its own reason; errors of the definition's code are handled like those of any tool.
    if (ctx.signal.aborted || !(error instanceof HttpProblem)) throw error;
    return failed(tool, error, secrets);
  }
}

async function answerTo(
  request: HttpRequest,
  deps: {
    readonly tool: HttpTool;
    readonly ctx: CallContext<never>;
    readonly secrets: Secrets;
    readonly connections: Connections;
  },
) {
  const { ctx, secrets, connections } = deps;
  const { http } = deps.tool;
  const { host } = request.url;
  const { signal } = ctx;
  try {
    const rules = { ...connections, maxRedirects: http.maxRedirects, signal };
    const response = await send(request, rules);
    ctx.logger.debug('http tool was answered', { host, status: response.status });
    return await readAnswer(http, response, secrets);
  } catch (error) {
    throw problemOf(error, host);
  }
}

/** Requests another attempt if a second request does no harm; else returns the error for the model. */
function failed(tool: AnyTool, problem: HttpProblem, secrets: Secrets): Error {
  const message = secrets.redact(problem.message);
  const { retryable, retryAfterMs } = problem;
  if (!retryable || tool.effects === 'once') return toolError(message);
  throw new ToolRetry({ message, ...(retryAfterMs === undefined ? {} : { after: retryAfterMs }) });
}

/** Plays recorded turns again with another prompt or model: begins it, and reads the steps side by side. */
import { createHash, randomUUID } from 'node:crypto';
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import type { WhatIfPoint } from '../../protocol/forks/forks.js';
import { MAX_WHAT_IF_STEPS } from '../../protocol/limits/limits.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';
import { idProblem, REUSED, requestIdProblem } from '../../protocol/values/ids.js';
import { canonicalJson } from '../../protocol/values/json.js';
import type { WhatIfReport } from '../../protocol/workflow/what-if.js';
import {
  DEFAULT_WHAT_IF_STEPS,
  MAX_WHAT_IF_INSTRUCTIONS,
  type WhatIfInput,
} from '../../protocol/workflow/what-if.js';
import { checkedMs, checkTexts, wholeProblem } from '../api/checks.js';
import { ConversationError, invalidField } from '../api/errors.js';
import { checkOptions } from '../api/known-options.js';
import type { WhatIf, WhatIfOptions } from '../api/what-if-types.js';
import { pauseFor } from '../temporal/waiting.js';
import type { WhatIfRun, WhatIfRuns } from '../what-ifs/runs.js';
import { findServedAgent, listAgents } from './agents.js';
import type { SendingParts } from './sending.js';
import { DEFAULT_RESULT_TIMEOUT } from './turn.js';

/** Milliseconds between two looks at a what-if that runs. */
const FIRST_PAUSE_MS = 50;
const LAST_PAUSE_MS = 1_000;
const MAX_NAME_CHARS = 200;

export interface WhatIfParts extends SendingParts {
  readonly whatIfs: WhatIfRuns;
}

/** @throws {ConversationError} invalid_request with every field that breaks a rule */
export function checkWhatIf(options: WhatIfOptions): void {
  const { turnId, generation, agent, model, instructions, requestId } = options;
  const problems: FieldProblem[] = [];
  const refuse = (field: string, given: unknown, message: string | undefined): void => {
    if (given !== undefined && message !== undefined) problems.push({ path: `/${field}`, message });
  };
  refuse('turnId', turnId, nameProblem(turnId));
  refuse('generation', generation, wholeProblem(generation));
  refuse('agent', agent, idProblem('agent', agent));
  refuse('model', model, nameProblem(model));
  if (instructions === undefined) refuse('instructions', options, nothingProblem(options));
  else refuse('instructions', instructions, instructionsProblem(instructions));
  const { maxSteps } = options;
  refuse('maxSteps', maxSteps, wholeProblem(maxSteps, MAX_WHAT_IF_STEPS));
  refuse('requestId', requestId, requestIdProblem('requestId', requestId));
  if (problems.length > 0) throw invalid(problems);
  checkTexts({ turnId, model, instructions, requestId });
}

/** Undefined where the request names what is to be different. */
function nothingProblem({ agent, model }: WhatIfOptions): string | undefined {
  return agent === undefined && model === undefined
    ? 'must be given, or a model, or an agent (that of the turn asks its model once more)'
    : undefined;
}

function nameProblem(value: unknown): string | undefined {
  const isName = typeof value === 'string' && value !== '' && value.length <= MAX_NAME_CHARS;
  return isName ? undefined : `must be a text of 1 to ${MAX_NAME_CHARS} characters`;
}

function instructionsProblem(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.trim() === '') return 'must be a text that is not blank';
  return value.length <= MAX_WHAT_IF_INSTRUCTIONS
    ? undefined
    : `must have at most ${MAX_WHAT_IF_INSTRUCTIONS} characters`;
}

function invalid(problems: readonly FieldProblem[]): ConversationError {
  const [first] = problems;
  const detail = first === undefined ? '' : `: ${first.path.slice(1)} ${first.message}`;
  return new ConversationError('invalid_request', `The turn cannot be played again${detail}`, {
    problems,
  });
}

/** @throws errors of Temporal and of the store; {ConversationError} see `Conversation.whatIf` */
export async function startWhatIf(
  parts: WhatIfParts,
  options: WhatIfOptions,
  { generation: newest = 1, startedAt: ofNow }: ConversationSnapshot,
): Promise<WhatIf> {
  const { key, gateway, stamp, whatIfs } = parts;
  const { generation = newest } = options;
  const { requestId, actor, ...asked } = options;
  const digest = digestOf(canonicalJson(asked));
  const whatIfId = idOf(ofNow, requestId);
  // A repeat is judged by the first request: its agent may not be served any more.
  const before = requestId === undefined ? undefined : await whatIfs.find(key, whatIfId);
  if (before !== undefined)
    return begun(parts, { whatIfId, ofNow, duplicate: true, about: sameRequest(before, digest) });
  const point = await pointOf(parts, options, generation);
  const { model, instructions, maxSteps = DEFAULT_WHAT_IF_STEPS, agent = point.agent } = asked;
  await checkServed(parts, { agent, model });
  const { startedAt, turnId, throughSeq } = point;
  const input: WhatIfInput = {
    ...{ ...key, whatIfId, startedAt, generation, turnId, throughSeq, agent, maxSteps },
    ...(model === undefined ? {} : { model }),
    ...(instructions === undefined ? {} : { instructions }),
    actor: stamp(actor),
  };
  const isNew = await whatIfs.start(input, { taskQueue: gateway.taskQueue, digest, ofNow });
  const known = isNew ? undefined : await whatIfs.find(key, whatIfId);
  const about = known === undefined ? input : sameRequest(known, digest);
  return begun(parts, { whatIfId, ofNow, duplicate: !isNew, about });
}

/** @throws {ConversationError} invalid_request when the id names another request */
function sameRequest({ memo }: WhatIfRun, digest: string): WhatIfRun['memo'] {
  if (memo.digest !== digest) throw invalid([REUSED]);
  return memo;
}

function begun(
  parts: WhatIfParts,
  of: {
    readonly whatIfId: string;
    readonly ofNow: string;
    readonly duplicate: boolean;
    readonly about: Pick<WhatIf, 'turnId' | 'agent'>;
  },
): WhatIf {
  const { whatIfId, ofNow, duplicate, about } = of;
  const { conversationId } = parts.key;
  return {
    ...{ whatIfId, conversationId, duplicate, turnId: about.turnId, agent: about.agent },
    result: async (options = {}) => {
      checkOptions('final', options);
      const { timeout, signal } = options;
      const timeoutMs = checkedMs('timeout', timeout ?? DEFAULT_RESULT_TIMEOUT);
      const deadline = Date.now() + timeoutMs;
      for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LAST_PAUSE_MS)) {
        const report = await readWhatIf(parts, whatIfId, ofNow);
        const isLate = Date.now() >= deadline || signal?.aborted === true;
        if (report.state !== 'running' || isLate) return report;
        await pauseFor(Math.min(pause, deadline - Date.now()), signal);
      }
    },
  };
}

async function pointOf(
  { key, reader }: WhatIfParts,
  { turnId }: WhatIfOptions,
  generation: number,
): Promise<Extract<WhatIfPoint, { readonly turnId: string }>> {
  if (reader.whatIfPoint === undefined)
    throw new ConversationError('store_unavailable', 'A what-if needs the event log');
  const point = await reader.whatIfPoint(key, { generation, turnId });
  if (point === undefined)
    throw invalidField('/generation', 'must be a generation of the log of the conversation');
  if ('problems' in point) throw invalid(point.problems);
  return point;
}

/** @throws {ConversationError} unknown_agent, agent_not_served; invalid_request naming the models */
async function checkServed(
  { agents, key: { tenant } }: WhatIfParts,
  { agent, model }: { readonly agent: string; readonly model: string | undefined },
): Promise<void> {
  const own = await findServedAgent(agents, { tenant, name: agent });
  if (model === undefined) return;
  const served = (await listAgents(agents)).filter((one) => one.notServedSince === undefined);
  const models = [...new Set([own, ...served].map((one) => one.model))].toSorted();
  if (!models.includes(model))
    throw invalidField(
      '/model',
      `must be the model of an agent that is served: ${models.join(', ')}`,
    );
}

/** A repeat under the same request id finds the what-if of the first, in this conversation alone. */
function idOf(startedAt: string, requestId: string | undefined): string {
  if (requestId === undefined) return `w-${randomUUID()}`;
  return `w-${digestOf(`${startedAt}\n${requestId}`).slice(0, 32)}`;
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * @param startedAt start of the conversation that has the id now
 * @throws {ConversationError} unknown_what_if, also for one of a conversation that was deleted; errors of Temporal
 */
export async function findWhatIf(
  { key, whatIfs }: WhatIfParts,
  whatIfId: string,
  startedAt: string,
): Promise<WhatIfRun> {
  const isId = idProblem('whatIfId', whatIfId) === undefined;
  const run = isId ? await whatIfs.find(key, whatIfId) : undefined;
  if (run?.memo.startedAt === startedAt) return run;
  throw new ConversationError('unknown_what_if', `No what-if "${whatIfId}" of this conversation`);
}

/** @throws {ConversationError} as `findWhatIf` */
export async function readWhatIf(
  parts: WhatIfParts,
  whatIfId: string,
  startedAt: string,
): Promise<WhatIfReport> {
  const { key, gateway } = parts;
  const run = await findWhatIf(parts, whatIfId, startedAt);
  const { digest: _ofRequest, startedAt: _ofConversation, ...about } = run.memo;
  const report = { whatIfId, conversationId: key.conversationId, ...about };
  if (run.state === 'over') return { ...report, ...run.result };
  const warning = run.isWaiting ? { warning: await gateway.noWorkerText() } : {};
  return { ...report, state: 'running', ...warning };
}

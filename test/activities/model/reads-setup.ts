/** Model calls whose answers request reads. */

import { z } from 'zod';
import { answerWithReads } from '../../../src/activities/model/run-reads.js';
import type { ScopedTools } from '../../../src/activities/shared/deps.js';
import type { ToolContext } from '../../../src/define/tool/context.js';
import { defineAgent, defineTool, type Tool } from '../../../src/index.js';
import type { ModelResponse } from '../../../src/protocol/model/model.js';
import type { CallModelResult } from '../../../src/protocol/workflow/activities.js';
import { CORE_REVISION } from '../../../src/protocol/workflow/revisions.js';
import { NO_SECRETS } from '../../support/builders/scopes.js';
import { answer, environment, modelInput, modelOf, type Setup, setUp } from '../tools/fixtures.js';

export const BOUNDS = { coreRevision: CORE_REVISION };

export type Services = { readonly rate: number };
export type Ctx = ToolContext<Services>;
export type Run = (label: string, ctx: Ctx) => unknown;

export function reads(
  run: Run,
  over: { readonly streaming?: boolean; readonly maxResultBytes?: number } = {},
) {
  return defineTool<Services, z.ZodObject<{ label: z.ZodString }>>({
    name: 'look',
    description: 'Looks.',
    input: z.object({ label: z.string() }),
    effects: 'none',
    inline: true,
    ...over,
    run: ({ label }, ctx) => run(label, ctx),
  });
}

/** An answer that requests one call for each pair of tool name and label. */
export function asking(
  ...calls: readonly (readonly [tool: string, label: string])[]
): ModelResponse {
  return answer({
    finishReason: 'tool_calls',
    calls: calls.map(([name, label], index) => ({
      id: `call_${index}`,
      name,
      argumentsJson: JSON.stringify({ label }),
    })),
  });
}

export const looks = (count: number) =>
  asking(...Array.from({ length: count }, (_, index) => ['look', `l${index}`] as const));

export function setUpAsking(
  response: ModelResponse,
  tools: readonly Tool<Services>[],
  more: Partial<Setup> = {},
) {
  const model = modelOf((_request, { onEvent }) => {
    onEvent({ type: 'text', text: 'Hel' });
    onEvent({ type: 'text', text: 'lo.' });
    return Promise.resolve(response);
  });
  return setUp({ model, tools, ...more });
}

export async function answered(
  response: ModelResponse,
  tools: readonly Tool<Services>[],
  more: Partial<Setup> = {},
): Promise<CallModelResult> {
  const { activities } = setUpAsking(response, tools, more);
  return await environment().run(activities.callModel, modelInput({ reads: BOUNDS }));
}

/**
 * Runs the reads of an answer in a worker with these faults, after the answer was planned in one without them.
 * `tools`: those that the worker finds now.
 */
export async function answeredWith(
  planned: Tool<Services>,
  {
    tools,
    services,
  }: { readonly tools: readonly Tool<Services>[]; readonly services: () => Services },
): Promise<CallModelResult> {
  const { activities } = setUpAsking(looks(2), [planned]);
  const outcome = await environment().run(activities.callModel, modelInput());
  const model = modelOf(() => Promise.reject(new Error('not called')));
  const agent = defineAgent({ name: 'support', model, instructions: 'Help.', tools });
  const quiet = () => undefined;
  const worker = {
    get services() {
      return services();
    },
    publish: quiet,
    scope: { ...NO_SECRETS },
    logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  } as unknown as ScopedTools;
  const input = modelInput({ reads: BOUNDS });
  const messages = 'append' in input.transcript ? input.transcript.append : [];
  const finished = { agent, messages, outcome, details: quiet, stream: { flush: quiet } };
  return await environment().run(
    (given: typeof input) => answerWithReads(worker, given, finished as never),
    input,
  );
}

/** Calls by id, with the result that came with each. */
export const takenIn = ({ calls }: CallModelResult) =>
  calls.map(({ plan, read }) => [plan.toolCallId, read?.ended.envelope]);

export function aborted({ signal }: Ctx): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      resolve();
    });
  });
}

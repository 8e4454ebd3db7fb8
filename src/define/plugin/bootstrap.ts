/** The tools that run when a call enters a mode. Runs anywhere. */
import type { Json } from '../../protocol/values/json.js';
import { isZodSchema, type Schema } from '../schemas/schema.js';
import { problemText, validate } from '../schemas/validate.js';
import { isToolError, type ToolContext, toolError } from '../tool/context.js';
import { isToolFiles } from '../tool/files.js';
import type { Tool } from '../tool/types.js';

export interface BootstrapTool<Services> {
  readonly tool: Tool<Services>;
  /** Parsed by the tool's schema. @defaultValue {} */
  readonly input?: Json;
}

/** The rule that keeps a tool from running inside of another call; undefined when it may. */
export function bootstrapProblem(tool: Tool<never>): string | undefined {
  const { name, executor, run, approval, policy, effects, mode, taskQueue } = tool;
  if (run === undefined) {
    const kind = executor === 'server' ? 'an HTTP tool' : `executor '${executor}'`;
    return `"${name}" must be a server tool with \`run\`, got ${kind}`;
  }
  if (approval.needed || policy !== undefined)
    return `"${name}" must be a tool without a gate: it runs without a question to a person`;
  if (mode === 'detach')
    return `"${name}" must not be detached: the call that enters the mode waits for its result`;
  if (effects === 'once')
    return `"${name}" must not have effects 'once': the call that enters the mode may run again`;
  if (taskQueue !== undefined)
    return `"${name}" must not have a task queue: it runs in the worker that enters the mode`;
  return undefined;
}

/**
 * Runs the tools one after the other, and returns their results by name.
 * @throws {ToolError} of the first that fails; the tools behind it do not run
 */
export async function runBootstrap<Services>(
  mode: string,
  tools: readonly BootstrapTool<Services>[],
  ctx: ToolContext<Services>,
): Promise<Readonly<Record<string, unknown>>> {
  const results: Record<string, unknown> = {};
  for (const { tool, input = {} } of tools) {
    try {
      const parsed = await parsedInput(tool, input);
      const returned = await tool.run?.(parsed, contextFor(ctx, `${mode}/${tool.name}`));
      results[tool.name] = await checkedOutput(tool, returned);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw toolError(`mode "${mode}" was not entered: ${tool.name} failed: ${reason}`);
    }
  }
  return results;
}

/**
 * The context of the call, with a key of its own. The answers to questions belong to the tool that has asked them, and
 * this one may not ask: the call would be entered again from its begin.
 */
function contextFor<Services>(ctx: ToolContext<Services>, part: string): ToolContext<Services> {
  const { state: _state, declined: _declined, answeredBy: _answeredBy, ...rest } = ctx;
  return {
    ...rest,
    idempotencyKey: `${ctx.idempotencyKey}/${part}`,
    asks: 0,
    ask: () => {
      throw toolError('a bootstrap tool must not ask');
    },
    answerTo: () => Promise.resolve(undefined),
  };
}

/** As for a call: after defaults and transforms, as JSON. */
async function parsedInput<Services>(
  { input: schema }: Tool<Services>,
  given: Json,
): Promise<unknown> {
  return asJson(await checked(schema, given, 'input'));
}

async function checkedOutput<Services>(
  { output }: Tool<Services>,
  returned: unknown,
): Promise<unknown> {
  if (isToolError(returned)) throw returned;
  if (isToolFiles(returned)) throw toolError('a bootstrap tool must not show files');
  if (output === undefined) return returned;
  return await checked(output, isZodSchema(output) ? returned : asJson(returned), 'result');
}

async function checked(schema: Schema, value: unknown, place: string): Promise<unknown> {
  const validated = await validate(schema, value);
  if (validated.ok) return validated.value;
  throw toolError(`invalid ${place}: ${problemText(validated.problems)}`);
}

function asJson(value: unknown): unknown {
  // Undefined and functions have no text.
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? null : JSON.parse(text);
}

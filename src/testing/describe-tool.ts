/** `describeTool`: what every server tool has to keep, as tests of the author's own runner. */
import { type Agent, defineAgent } from '../define/agent.js';
import { checkTools } from '../define/check-tools.js';
import type { Tool } from '../define/tool.js';
import { calls, says, script } from '../model/scripted.js';
import type { Json } from '../protocol/json.js';
import type { ToolErrorCode, ToolResultEnvelope } from '../protocol/tools.js';
import { handlerOf } from '../tools/run.js';
import { testConversation } from './test-conversation.js';

export interface ToolCase<Services> {
  readonly title: string;
  /** As the model would send it. */
  readonly input: Json;
  /** Made anew for each run, so that runs cannot help each other. */
  readonly services?: () => Services;
  /** Code of the error that must come of it; absent: it must succeed. */
  readonly error?: ToolErrorCode;
  /** Looks at the result; throws when it is not as it should be. */
  readonly check?: (result: Json) => void;
}

/** The two functions of vitest, jest, mocha or `node:test`. */
export interface TestRunner {
  readonly describe: (title: string, body: () => void) => void;
  readonly it: (title: string, body: () => Promise<void>) => void;
}

/**
 * Registers one test for the definition and one for each case. Every case goes the whole way, from the model's call through
 * validation and `run` to the result that the model reads. A tool that says `effects: 'none'` is run twice, and must give
 * results of the same shape. For server tools without an approval.
 */
export function describeTool<Services>(
  tool: Tool<Services>,
  cases: readonly ToolCase<Services>[],
  runner: TestRunner,
): void {
  const { describe, it } = runner;
  describe(`tool ${tool.name}`, () => {
    it('runs in a worker, without an approval, and has no errors', () => {
      if (handlerOf(tool) === undefined || tool.approval.needed || tool.policy !== undefined)
        fail(tool.name, 'is no server tool without an approval');
      const errors = checkTools([tool as Tool<never>]).filter(({ level }) => level === 'error');
      if (errors.length > 0) fail(tool.name, errors.map(({ message }) => message).join('; '));
      return Promise.resolve();
    });
    for (const entry of cases)
      it(entry.title, async () => {
        const first = await resultOf(tool, entry);
        judge(tool.name, entry, first);
        if (tool.effects !== 'none') return;
        const second = await resultOf(tool, entry);
        if (shapeOf(first) !== shapeOf(second))
          fail(tool.name, `gave ${shapeOf(first)} once, and then ${shapeOf(second)}`);
      });
  });
}

async function resultOf<Services>(
  tool: Tool<Services>,
  { input, services }: ToolCase<Services>,
): Promise<ToolResultEnvelope> {
  const model = script(calls(tool.name, input), says('done'));
  const spec = { name: 'conformance', instructions: 'Call the tool.', model, tools: [tool] };
  const agent: Agent<Services> = defineAgent<Services>(spec);
  const conversation = testConversation(
    agent,
    services === undefined ? {} : { services: services() },
  );
  await conversation.send('go');
  const result = conversation.result(tool.name);
  if (result === undefined) return fail(tool.name, 'ended without a result: it still waits');
  return result;
}

function judge(
  name: string,
  { error, check }: Pick<ToolCase<never>, 'error' | 'check'>,
  result: ToolResultEnvelope,
): void {
  if (result.ok) {
    if (error !== undefined) fail(name, `succeeded; the error ${error} was expected`);
    check?.(result.result);
  } else if (result.error.code !== error)
    fail(name, `failed with ${result.error.code}: ${result.error.message}`);
}

/** The types of all fields, whatever their values: `{"a":["number"]}`; of a list, those of its first item. */
function shapeOf(envelope: ToolResultEnvelope): string {
  return JSON.stringify(envelope.ok ? shape(envelope.result) : envelope.error.code);
}

function shape(value: Json | undefined): Json {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return value.slice(0, 1).map((item) => shape(item as Json));
  if (typeof value !== 'object') return typeof value;
  const fields = Object.entries(value as Readonly<Record<string, Json>>);
  fields.sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(fields.map(([key, item]) => [key, shape(item)]));
}

function fail(name: string, problem: string): never {
  throw new Error(`tool "${name}" ${problem}`);
}

/** `describeTool`: the contract of every tool with code in a worker, as tests in the author's own runner. */
import { outsideReason } from '../core/calls/audience.js';
import { checkTools } from '../define/check-tools.js';
import { type Agent, defineAgent } from '../define/define-agent.js';
import type { Tool } from '../define/tool/types.js';
import { calls, says, script } from '../model/scripted/scripted.js';
import type { ToolErrorCode, ToolResultEnvelope } from '../protocol/calls/results.js';
import type { PendingCall } from '../protocol/calls/suspensions.js';
import type { Actor } from '../protocol/values/actors.js';
import type { Json } from '../protocol/values/json.js';
import { handlerOf } from '../tools/run/run.js';
import { TESTER, testConversation } from './test-conversation.js';

export interface ToolCase<Services> {
  readonly title: string;
  /** Input as the model would send it. */
  readonly input: Json;
  /** Called for each run, so that runs share no services. */
  readonly services?: () => Services;
  /** Answers to the questions that the tool asks during its runs, in their order. */
  readonly answers?: readonly Json[];
  /** Code of the expected error; absent: the call must succeed. */
  readonly error?: ToolErrorCode;
  /** Checks the result, or the payload of a preflight; throws when it is wrong. */
  readonly check?: (result: Json) => void;
}

/** The two functions of vitest, jest, mocha or `node:test`. */
export interface TestRunner {
  readonly describe: (title: string, body: () => void) => void;
  readonly it: (title: string, body: () => Promise<void>) => void;
}

/**
 * Registers one test for the definition and one for each case. Every case goes the whole way, from the model's call
 * through validation, policies and `run` to the result that the model reads; for a client tool it goes to the payload
 * of its `preflight`. A needed approval is given by an actor whom its audience admits. A tool with `effects: 'none'`,
 * and every preflight, runs twice, and must give results of the same shape.
 */
export function describeTool<Services>(
  tool: Tool<Services>,
  cases: readonly ToolCase<Services>[],
  runner: TestRunner,
): void {
  const { describe, it } = runner;
  describe(`tool ${tool.name}`, () => {
    it('has code that runs in a worker, and no errors', () => {
      if (handlerOf(tool) === undefined && tool.preflight === undefined)
        fail(tool.name, 'has no code that runs in a worker');
      const errors = checkTools([tool as Tool<never>]).filter(({ level }) => level === 'error');
      if (errors.length > 0) fail(tool.name, errors.map(({ message }) => message).join('; '));
      return Promise.resolve();
    });
    for (const entry of cases)
      it(entry.title, async () => {
        const first = await resultOf(tool, entry);
        judge(tool.name, entry, first);
        if (tool.effects !== 'none' && tool.preflight === undefined) return;
        const second = await resultOf(tool, entry);
        if (shapeOf(first) !== shapeOf(second))
          fail(tool.name, `gave ${shapeOf(first)} once, and then ${shapeOf(second)}`);
      });
  });
}

async function resultOf<Services>(
  tool: Tool<Services>,
  { input, services, answers = [] }: ToolCase<Services>,
): Promise<ToolResultEnvelope> {
  const model = script(calls(tool.name, input), says('done'));
  const spec = { name: 'conformance', instructions: 'Call the tool.', model, tools: [tool] };
  const agent: Agent<Services> = defineAgent<Services>(spec);
  const conversation = testConversation(
    agent,
    services === undefined ? {} : { services: services() },
  );
  await conversation.send('go');
  const left = [...answers];
  for (;;) {
    const [asked] = conversation.pending;
    const value = asked?.kind === 'elicitation' ? left.shift() : undefined;
    if (asked?.kind === 'approval')
      await conversation.approve(tool.name, { actor: admittedBy(tool.name, asked) });
    else if (asked !== undefined && value !== undefined)
      await conversation.answer(tool.name, value, digestOf(asked));
    else if (asked?.kind === 'client_execution') return { ok: true, result: asked.prompt };
    else break;
  }
  const result = conversation.result(tool.name);
  if (result === undefined) return fail(tool.name, 'ended without a result: it still waits');
  return result;
}

function digestOf({ argsDigest }: PendingCall): { argsDigest?: string } {
  return argsDigest === undefined ? {} : { argsDigest };
}

/** An actor who may approve the call, and is not its requester. */
function admittedBy(name: string, { audience = {} }: PendingCall): Actor {
  const all = [audience, ...(audience.also ?? [])];
  const roles = all.flatMap((one) => one.roles ?? []);
  const people = ['approver', ...all.flatMap(({ users = [] }) => users)].map((id) => ({
    id,
    roles,
  }));
  const admitted = people.find(({ id }) => {
    const actor = { id, roles, verified: true, channel: 'client' } as const;
    return outsideReason(audience, actor, [TESTER.id]) === undefined;
  });
  return admitted ?? fail(name, 'asks for an approval that no actor may give');
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

/** The types of all fields, without their values: `{"a":["number"]}`; for a list, the type of its first item. */
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

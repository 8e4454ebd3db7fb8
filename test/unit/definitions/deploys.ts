/** Agents of one name whose one tool is defined in several ways, and the inputs of its code. */
import { z } from 'zod';
import { type Agent, defineAgent } from '../../../src/define/define-agent.js';
import { defineTool } from '../../../src/define/define-tool.js';
import type { Schema } from '../../../src/define/schemas/schema.js';
import type { AnyTool } from '../../../src/define/tool/types.js';
import { calls, says, script } from '../../../src/model/scripted/scripted.js';
import type { Json } from '../../../src/protocol/values/json.js';
import { type TestConversation, testConversation } from '../../../src/testing/test-conversation.js';
import { expectViewsAgree } from '../../support/schedules/core-invariants.js';

export const MODEL = () => script(calls('order', ARGUMENTS), says('Done.'), says('Later.'));

/** The model's arguments, before any deploy. */
export const ARGUMENTS = { order: 'a7', count: 5 };

/** The tool at the time of the call. */
export const BEFORE = z.object({ order: z.string(), count: z.int().max(100) });

export interface InputChange {
  readonly what: string;
  readonly input: z.ZodType;
  /** Whether the model's arguments mean the same to it. */
  readonly runs: boolean;
  /** The same for a tool that has only its JSON Schema. @defaultValue `runs` */
  readonly runsBySchema?: boolean;
}

const { order, count } = BEFORE.shape;

export const INPUT_CHANGES: readonly InputChange[] = [
  { what: 'nothing', input: z.object({ order: z.string(), count: z.int().max(100) }), runs: true },
  {
    what: 'a description',
    input: z.object({ order: z.string().describe('id'), count }),
    runs: true,
  },
  {
    what: 'an optional field is added',
    input: BEFORE.extend({ note: z.string().optional() }),
    runs: true,
  },
  {
    what: 'a field with a default is added',
    input: BEFORE.extend({ express: z.boolean().default(false) }),
    runs: false,
    runsBySchema: true,
  },
  { what: 'a required field is added', input: BEFORE.extend({ reason: z.string() }), runs: false },
  { what: 'a field is removed', input: z.object({ order }), runs: false },
  {
    what: 'a field is removed, and unknown ones are refused',
    input: z.strictObject({ order }),
    runs: false,
  },
  { what: 'a field is renamed', input: z.object({ orderId: z.string(), count }), runs: false },
  {
    what: 'a field is renamed and optional',
    input: z.object({ orderId: z.string().optional(), count }),
    runs: false,
  },
  {
    what: 'a field is narrowed, and the value is still admitted',
    input: z.object({ order, count: z.int().max(50) }),
    runs: true,
  },
  {
    what: 'a field is narrowed below the value',
    input: z.object({ order, count: z.int().max(3) }),
    runs: false,
  },
  {
    what: 'a field is widened',
    input: z.object({ order, count: z.number().max(1_000) }),
    runs: true,
  },
  { what: 'a field has another type', input: z.object({ order, count: z.string() }), runs: false },
  {
    what: 'a field has another type and takes the old one',
    input: z.object({ order, count: z.coerce.string() }),
    runs: false,
  },
  {
    what: 'a transform that no JSON Schema shows is added',
    input: z.object({ order: z.string().transform((it) => it.toUpperCase()), count }),
    runs: false,
    runsBySchema: true,
  },
  {
    what: 'a check that no JSON Schema shows is added',
    input: z.object({ order, count: count.refine((it) => it % 2 === 0) }),
    runs: false,
    runsBySchema: true,
  },
  {
    what: 'a check is added that the value passes',
    input: z.object({ order, count: count.refine((it) => it > 0) }),
    runs: true,
  },
];

export function agentOf(tools: readonly AnyTool[], model = MODEL()): Agent<never> {
  return defineAgent({ name: 'shop', model, instructions: 'Help.', tools });
}

export interface Seen {
  readonly input: Json;
  readonly schema: Schema;
}

/** Code of a server tool that records its inputs. */
export class Runs {
  readonly seen: Seen[] = [];

  of(schema: Schema) {
    return (input: unknown): string => {
      this.seen.push({ input: input as Json, schema });
      return 'done';
    };
  }

  get inputs(): readonly Json[] {
    return this.seen.map(({ input }) => input);
  }
}

/** A server tool with the given input. */
export function serverTool(runs: Runs, input: Schema, more: object = {}): AnyTool {
  return defineTool({
    ...{ name: 'order', description: 'Orders.', approval: 'required', input },
    ...more,
    run: runs.of(input),
  } as never);
}

/** A conversation in which the call of the tool waits. */
const begun: TestConversation<never>[] = [];

/** The state that readers see follows from the logs, event by event. */
export function expectViewsOfAll(): void {
  for (const t of begun.splice(0)) expectViewsAgree(t.events);
}

export async function waiting(tools: readonly AnyTool[]): Promise<TestConversation<never>> {
  const t = testConversation(agentOf(tools)) as TestConversation<never>;
  begun.push(t);
  await t.send('Order it');
  return t;
}

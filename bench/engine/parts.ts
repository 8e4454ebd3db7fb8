/** Agents made of parts: with plugins and a large state, and with sub-agents; each beside the same without them. */
import { agentTool, defineAgent, definePlugin, defineTool, type Model } from 'colloquy';
import { z } from 'zod';
import { PARTS_TOOL } from '../shared/cells.js';

const input = z.object({ id: z.string() });
const SLOTS = 100;
/** With its key a slot of 1 KB, as JSON. */
export const KILOBYTE = 'x'.repeat(1_010);
const TOOLS = 40;
const AT_ONCE = 10;

export function allSlots(): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from({ length: SLOTS }, (_, index) => [`s${index}`, KILOBYTE]));
}

/** The slot that a turn writes. */
export function slotOf(turnId: string): string {
  return `s${Number(turnId.match(/_(\d+)/)?.[1] ?? 0) % SLOTS}`;
}

const slots = definePlugin({
  id: 'slots',
  state: z.object({ slots: z.record(z.string(), z.string()).default({}) }),
  prepare: ({ state, context }) => {
    context.add(`Slots: ${Object.keys(state.getState(slots).slots).length}`);
  },
  tools: (self) => [
    defineTool({
      name: PARTS_TOOL,
      description: 'Writes a slot.',
      input,
      run: (_, ctx) => {
        const { slots: known } = ctx.getState(self);
        if (Object.keys(known).length === 0) ctx.setState(self, { slots: allSlots() });
        else {
          const path = `/slots/${slotOf(ctx.turnId)}`;
          ctx.patchState(self, { op: 'set', path, value: KILOBYTE });
        }
        return { found: 'yes' };
      },
    }),
  ],
});
export const counts = definePlugin({
  id: 'counts',
  state: z.object({ steps: z.number().default(0) }),
  prepare: ({ state }) => {
    state.patchState(counts, { op: 'increment', path: '/steps', by: 1 });
  },
});
export const hides = definePlugin({
  id: 'hides',
  prepare: ({ tools }) => {
    for (const name of tools.names.slice(0, 5)) tools.hide(name);
  },
});

/** With one more, 40 tools. */
export const others = Array.from({ length: TOOLS - 1 }, (_, index) =>
  defineTool({
    name: `other.t${index}`,
    description: 'Is not called.',
    input,
    run: () => ({ found: 'no' }),
  }),
);
const plain = defineTool({
  name: PARTS_TOOL,
  description: 'Writes nothing.',
  input,
  run: () => ({ found: 'yes' }),
});

/** The agents of the pairs, by a function that makes the model of each. */
export function partsAgents(modelOf: (names: readonly string[]) => Model) {
  const once = modelOf([PARTS_TOOL]);
  const one = defineAgent({
    name: 'bench-one',
    model: modelOf([]),
    instructions: 'Answer at once.',
  });
  const sub = agentTool(one, {
    ...{ name: 'sub', description: 'Asks another agent.', input },
    message: ({ id }) => id,
  });
  return {
    forty: defineAgent({
      ...{ name: 'bench-forty', model: once, instructions: 'Answer at once.' },
      tools: [plain, ...others],
    }),
    fortyPlugins: defineAgent({
      ...{ name: 'bench-forty-plugins', model: once, instructions: 'Answer at once.' },
      tools: others,
      plugins: [slots, counts, hides],
    }),
    subs: defineAgent({
      ...{ name: 'bench-ten-subs', instructions: 'Delegate.', tools: [sub] },
      model: modelOf(Array.from({ length: AT_ONCE }, () => 'sub')),
    }),
  };
}

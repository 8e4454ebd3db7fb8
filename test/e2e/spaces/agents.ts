/**
 * Two agents of one space, `anna` and `bert`: each answers every text of a person with one of its own, and skips those
 * of the other. With DEFINITIONS = `chatty` they answer each other as well. After a deploy (`after`) they have one more
 * tool. `colloquy worker` loads this source.
 */
import { initColloquy } from 'colloquy';
import { spacesPlugin } from 'colloquy/spaces';
import { callsAll, says, scriptedBy } from 'colloquy/testing';
import { z } from 'zod';

const { defineTool, defineAgent } = initColloquy();

const isAfter = process.env['DEFINITIONS'] === 'after';
const isChatty = process.env['DEFINITIONS'] === 'chatty';

const look = defineTool({
  name: 'look',
  description: 'Looks around.',
  input: z.object({}),
  effects: 'none',
  run: () => 'nothing to see',
});

/** A text of the space, as the event that wakes an agent has it. */
interface Woken {
  readonly author: { readonly kind: string };
  readonly text: string;
}

function wokenBy(text: string): Woken | undefined {
  const payload = /^\[Event: space\.message\] \(id \S+\) (\{.*\})$/s.exec(text)?.[1];
  return payload === undefined ? undefined : (JSON.parse(payload) as Woken);
}

function answerTo(name: string, woken: Woken): string | undefined {
  if (woken.author.kind !== 'person' && !isChatty) return undefined;
  return `${name}: ${woken.text}`.slice(0, 200);
}

const agentOf = (name: string) =>
  defineAgent({
    name,
    instructions: 'Answer in the space.',
    model: scriptedBy(({ messages }) => {
      const from = messages.findLastIndex(({ role }) => role === 'assistant');
      const newest = messages.slice(from + 1);
      const texts = newest.flatMap((message) =>
        message.role === 'user'
          ? message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
          : [],
      );
      const spaceId = texts.map((text) => /^enter (\S+)/.exec(text)?.[1]).find(Boolean);
      if (spaceId !== undefined) return callsAll([{ name: 'enter_space', input: { spaceId } }]);
      const woken = texts.flatMap((text) => wokenBy(text) ?? []);
      if (woken.length === 0) return says('');
      const answers = woken.flatMap((one) => answerTo(name, one) ?? []);
      return callsAll(
        answers.length === 0
          ? [{ name: 'skip', input: {} }]
          : answers.map((text) => ({ name: 'send_message', input: { text } })),
      );
    }),
    tools: isAfter ? [look] : [],
    plugins: [spacesPlugin()],
    settings: {
      toolExecution: 'sequential',
      inbox: { whileBusy: 'next_turn', rate: { turns: 120, per: '1 second' } },
    },
  });

export const anna = agentOf('anna');
export const bert = agentOf('bert');

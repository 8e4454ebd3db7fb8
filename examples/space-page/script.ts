/** The scripted models of the two agents: each answers what people have written since it wrote to the space last. */
import type { Model } from 'colloquy';
import { calls, says, scriptedBy } from 'colloquy/testing';

/** How an agent answers a text of a person. */
export interface Script {
  /** The call that comes before the answer; undefined when there is none to make. */
  readonly callFor: (text: string) => { readonly name: string; readonly input: object } | undefined;
  /** The answer, with the result of that call if there was one. */
  readonly answerTo: (text: string, result?: Result) => string;
}

/** The value of a call, or the message of its error. */
export type Result = { readonly value: unknown } | { readonly error: string };

type Part = Messages[number]['parts'][number];
type Messages = Parameters<Parameters<typeof scriptedBy>[0]>[0]['messages'];

/** A model that enters the space in which a person writes, makes the call that the text asks for, and answers there. */
export function scriptedAgent(script: Script): Model {
  return scriptedBy(({ messages }) => {
    const entered = messages.flatMap(callsOf).includes('enter_space');
    const open = messages.slice(messages.findLastIndex(hasWritten) + 1);
    const texts = open.flatMap(textOfPerson);
    const [first] = texts;
    // Texts of agents are read, and not answered: the answer of a turn is sent to no space.
    if (first === undefined) return says('Nothing to add.');
    if (!entered) return calls('enter_space', { spaceId: first.spaceId });
    const results = new Map(open.flatMap(resultsOf));
    const answers: string[] = [];
    for (const { text } of texts) {
      const call = script.callFor(text);
      const result = call === undefined ? undefined : results.get(call.name);
      if (call !== undefined && result === undefined) return calls(call.name, { ...call.input });
      answers.push(script.answerTo(text, result));
    }
    return calls('send_message', { text: answers.join('\n') });
  });
}

function hasWritten(message: Messages[number]): boolean {
  return callsOf(message).includes('send_message');
}

function callsOf({ parts }: Messages[number]): readonly string[] {
  return (parts as readonly Part[]).flatMap((part) =>
    part.type === 'tool_call' ? [part.name] : [],
  );
}

function resultsOf({ parts }: Messages[number]): readonly (readonly [string, Result])[] {
  return (parts as readonly Part[]).flatMap((part) => {
    if (part.type !== 'tool_result') return [];
    const { name, envelope } = part;
    const result = envelope.ok ? { value: envelope.result } : { error: envelope.error.message };
    return [[name, result] as const];
  });
}

interface PersonText {
  readonly spaceId: string;
  readonly text: string;
}

/** The text of an event `space.message`, in the form in which models read events. */
function textOfPerson({ parts }: Messages[number]): readonly PersonText[] {
  return (parts as readonly Part[]).flatMap((part) => {
    const json =
      part.type === 'text' ? /^\[Event: space\.message\] \(id \S+\) (.*)$/s.exec(part.text) : null;
    if (json?.[1] === undefined) return [];
    const event = JSON.parse(json[1]) as PersonText & {
      readonly author: { readonly kind: string };
    };
    return event.author.kind === 'person' ? [event] : [];
  });
}

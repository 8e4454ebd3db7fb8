/** One line for one event of the log. */
import type { AssistantPart, UserPart } from '../../protocol/conversation/messages.js';
import type { CanonicalEvent } from '../../protocol/log/events.js';
import { oneLine, shortJson } from './text.js';

export function eventLine(event: CanonicalEvent): string {
  const { seq, at, type } = event;
  return `${String(seq).padStart(5)}  ${at}  ${type.padEnd(20)}  ${detailsOf(event)}`.trimEnd();
}

function detailsOf(event: CanonicalEvent): string {
  switch (event.type) {
    case 'user_message':
      return `${oneLine(event.actor.id, 40)}: ${textOf(event.parts)}`;
    case 'assistant_message':
      return [textOf(event.parts), ...callsIn(event.parts)].filter((text) => text !== '').join(' ');
    case 'model_call': {
      const { model, finishReason, usage } = event;
      return `${oneLine(model, 40)}: ${oneLine(finishReason, 40)}, ${usage.inputTokens} tokens in, ${usage.outputTokens} out`;
    }
    case 'conversation_started':
      return `agent ${event.agent}`;
    case 'turn_started':
      return event.turnId;
    case 'tool_call':
    case 'call_planned':
      return `${oneLine(event.call.name)} ${shortJson(event.call.input)}`;
    case 'suspension': {
      const { kind, name, deadline } = event.suspension;
      return `${kind} of ${oneLine(name)} until ${deadline}`;
    }
    case 'resolution':
      return `${event.resolution.type} by ${oneLine(event.actor.id, 40)}`;
    case 'tool_result': {
      const { envelope } = event.result;
      return envelope.ok
        ? shortJson(envelope.result)
        : `${oneLine(envelope.error.code, 40)}: ${oneLine(envelope.error.message)}`;
    }
    case 'turn_ended':
      return `${event.status}${event.error === undefined ? '' : `: ${oneLine(event.error.message)}`}`;
    default:
      return othersOf(event);
  }
}

function textOf(parts: readonly (AssistantPart | UserPart)[]): string {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return oneLine(texts.join(' '), 300);
}

function callsIn(parts: readonly AssistantPart[]): readonly string[] {
  const names = parts.flatMap((part) => (part.type === 'tool_call' ? [oneLine(part.name)] : []));
  return names.length === 0 ? [] : [`calls ${names.join(', ')}`];
}

function othersOf({ seq: _seq, at: _at, type: _type, ...rest }: CanonicalEvent): string {
  return Object.keys(rest).length === 0 ? '' : shortJson(rest);
}

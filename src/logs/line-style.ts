/** The style of log lines: text for a person at a terminal, JSON for programs. */
import { styleText } from 'node:util';

export type LogForm = 'json' | 'pretty';

export interface LineStyle {
  readonly form: LogForm;
  readonly colours: boolean;
}

/** The style of a stream's lines: the chosen form, else text on a terminal and JSON elsewhere. */
export function styleFor(stream: NodeJS.WriteStream, chosen?: LogForm): LineStyle {
  const form = chosen ?? (stream.isTTY ? 'pretty' : 'json');
  return { form, colours: form === 'pretty' && allowsColours(stream) };
}

/** By NO_COLOR, FORCE_COLOR and TERM, and else on a terminal. */
function allowsColours(stream: NodeJS.WriteStream): boolean {
  return styleText('red', '-', { stream }) !== '-';
}

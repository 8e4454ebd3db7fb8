/** Where a process writes its log lines: standard error, at once, in the given style. */
import { type DestinationStream, pino } from 'pino';
import type { LineStyle } from './line-style.js';
import { lineText } from './line-text.js';

/** Synchronous, so that the lines before a crash are there. */
export function stderrLines(style: LineStyle): DestinationStream {
  const stderr = pino.destination({ dest: 2, sync: true });
  if (style.form === 'json') return stderr;
  return {
    write: (line) => {
      stderr.write(`${lineText(line.trimEnd(), style)}\n`);
    },
  };
}

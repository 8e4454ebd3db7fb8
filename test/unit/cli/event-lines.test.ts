/** Lines of the log on a terminal, and texts that could move its cursor. */
import { describe, expect, it } from 'vitest';
import { eventLine } from '../../../src/cli/conversations/event-line.js';
import { lines, oneLine, shortJson, table } from '../../../src/cli/conversations/text.js';
import { stamped, started, turn } from '../../support/samples/log-events.js';

describe('a text of others', () => {
  it('is one line in which every character is visible', () => {
    expect(oneLine('I’m  here,\n"Zoë"\t<b>')).toBe('I’m here, "Zoë" <b>');
    expect(oneLine('a\u001b[2Jb\u202ec\u200b')).toBe('a\\u001b[2Jb\\u202ec\\u200b');
    expect(oneLine('x'.repeat(9), 4)).toBe('xxxx … 5 more characters');
    expect(shortJson({ a: '\u0007' })).toBe('{"a":"\\u0007"}');
  });

  it('of several lines keeps its lines, and nothing else', () => {
    expect(lines('a\r\nb\u001b[1m')).toBe('a\nb\\u001b[1m');
  });
});

it('a table has columns as wide as their widest cell', () => {
  expect(
    table(
      ['ID', 'STATUS'],
      [
        ['order-1', 'idle'],
        ['o', 'closed'],
      ],
    ),
  ).toBe('ID       STATUS\norder-1  idle\no        closed');
});

it('each event of a log is one line with its number, time and type', () => {
  const events = stamped([started(), ...turn('t1')]);
  for (const event of events) {
    const line = eventLine(event);
    expect(line.split('\n')).toHaveLength(1);
    expect(line).toContain(`${event.seq}  ${event.at}  ${event.type}`);
  }
  expect(eventLine(events[0]!)).toMatch(/conversation_started {2}agent /);
});

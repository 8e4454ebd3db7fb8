import { WriteStream } from 'node:tty';
import { describe, expect, it, vi } from 'vitest';
import { styleFor } from '../../../src/logs/line-style.js';
import { lineText } from '../../../src/logs/line-text.js';

const PLAIN = { form: 'pretty', colours: false } as const;
const stream = (isTTY: boolean): NodeJS.WriteStream =>
  Object.assign(Object.create(process.stderr) as NodeJS.WriteStream, {
    isTTY,
    getColorDepth: WriteStream.prototype.getColorDepth.bind(process.stderr),
  });
const line = (fields: object): string =>
  JSON.stringify({ level: 40, time: 0, pid: 7, hostname: 'h', name: 'colloquy-worker', ...fields });

describe('a log line for a person', () => {
  it('has time, level, process, message and fields, and nothing that every line has', () => {
    const text = lineText(line({ msg: 'no answer', tenant: 'acme', waits: { a: 1 } }), PLAIN);
    expect(text).toMatch(/^\d\d:\d\d:00\.000 {2}WARN {3}worker {3}no answer {2}tenant=acme/);
    expect(text).toContain('waits={"a":1}');
    expect(text).not.toMatch(/pid|hostname|\d{7}/);
  });

  it('has the message of an error, and its first frames at level error', () => {
    const err = { type: 'TypeError', message: 'no', stack: 'TypeError: no\n    at run (a.js:1:2)' };
    const shown = (level: number) =>
      lineText(line({ level, msg: 'failed', err }), PLAIN).split('\n');
    expect(shown(40)).toEqual([expect.stringMatching(/failed {2}TypeError: no$/)]);
    expect(shown(50)).toEqual([expect.stringMatching(/failed/), '    at run (a.js:1:2)']);
  });

  it('is one line that moves no cursor, with at most eight fields, each cut', () => {
    const many = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`f${index}`, index]));
    const text = lineText(line({ msg: 'a\n\u001b[2Jb', long: 'x'.repeat(500), ...many }), PLAIN);
    expect(text).toContain('a \\u001b[2Jb');
    expect(text).toContain(`long=${'x'.repeat(120)}…`);
    expect(text).toContain('… 4 more');
    expect(text).not.toMatch(/f8=|\n/);
  });

  it('leaves other text and JSON as they are, and every line in the form of JSON', () => {
    for (const other of ['ready', '{"a":1}', '{broken']) expect(lineText(other, PLAIN)).toBe(other);
    const given = line({ msg: 'm' });
    expect(lineText(given, { form: 'json', colours: false })).toBe(given);
  });
});

describe('the style of a stream', () => {
  it('is text on a terminal and JSON elsewhere, unless a form is chosen', () => {
    expect(styleFor(stream(true)).form).toBe('pretty');
    expect(styleFor(stream(false))).toEqual({ form: 'json', colours: false });
    expect(styleFor(stream(true), 'json')).toEqual({ form: 'json', colours: false });
    expect(styleFor(stream(false), 'pretty').form).toBe('pretty');
  });

  it.each([
    [{ NO_COLOR: '1' }, true, false],
    [{ FORCE_COLOR: '1' }, false, true],
    [{ FORCE_COLOR: '0' }, true, false],
    [{}, false, false],
  ])('has colours by %o, on a terminal: %s', (variables, isTTY, colours) => {
    vi.stubEnv('NO_COLOR', undefined);
    vi.stubEnv('FORCE_COLOR', undefined);
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
    const style = styleFor(stream(isTTY), 'pretty');
    vi.unstubAllEnvs();
    expect(style.colours).toBe(colours);
    expect(lineText(line({ msg: 'm' }), style).includes('\u001b[')).toBe(colours);
  });
});

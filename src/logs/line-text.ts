/** A log line as a person reads it: time, level, process, message, and the few fields that matter. */
import { styleText } from 'node:util';
import { isRecord } from '../protocol/values/json.js';
import { cutText } from '../protocol/values/well-formed.js';
import { visible } from '../protocol/workflow/shown-text.js';
import type { LineStyle } from './line-style.js';

type Fields = Readonly<Record<string, unknown>>;
type Styles = Parameters<typeof styleText>[0];

const ERROR_LEVEL = 50;
const LEVELS: Readonly<Record<number, readonly [name: string, style: Styles]>> = {
  10: ['TRACE', 'dim'],
  20: ['DEBUG', 'dim'],
  30: ['INFO', 'green'],
  40: ['WARN', 'yellow'],
  [ERROR_LEVEL]: ['ERROR', 'red'],
  60: ['FATAL', 'red'],
};
/** Shown elsewhere in the line, or the same in every line of a process. */
const LEFT_OUT = new Set([
  ...['level', 'time', 'pid', 'hostname', 'name', 'msg', 'temporal', 'err', 'error', 'stack'],
  ...['sdkComponent', 'namespace', 'taskQueue', 'workerDeployment', 'identity', 'target'],
]);
const MAX_FIELDS = 8;
const MAX_VALUE_CHARS = 120;
const MAX_FRAMES = 5;

/**
 * The text of a line in the given style. JSON that is no log line, and text that is no JSON, stay as they are in either
 * form.
 */
export function lineText(line: string, style: LineStyle): string {
  const record = style.form === 'pretty' ? recordIn(line) : undefined;
  return record === undefined ? line : recordText(record, style);
}

function recordIn(line: string): Fields | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const read: unknown = JSON.parse(line);
    return isRecord(read) && typeof read['level'] === 'number' ? read : undefined;
  } catch {
    return undefined;
  }
}

function recordText(record: Fields, { colours }: LineStyle): string {
  const styled = (style: Styles, text: string): string =>
    colours && text !== '' ? styleText(style, text, { validateStream: false }) : text;
  const { level, time, name, msg } = record;
  const [levelName, levelStyle] = LEVELS[Number(level)] ?? [String(level), 'dim'];
  const error = record['err'] ?? record['error'];
  const shown = Object.entries(record).filter(
    ([key, value]) => !LEFT_OUT.has(key) && value !== undefined && value !== null,
  );
  const kept = shown.slice(0, MAX_FIELDS).map(([key, value]) => `${key}=${valueText(value)}`);
  const left = shown.length - kept.length;
  const parts = [
    styled('dim', clock(time)),
    styled(levelStyle, levelName.padEnd(5)),
    processName(name),
    styled('bold', flat(typeof msg === 'string' ? msg : '')),
    styled(levelStyle, errorText(error)),
    styled('dim', [...kept, ...(left > 0 ? [`… ${left} more`] : [])].join('  ')),
  ];
  const head = parts.filter((part) => part !== '').join('  ');
  const frames = Number(level) >= ERROR_LEVEL ? framesOf(error) : [];
  return [head, ...frames.map((frame) => styled('dim', `    ${frame}`))].join('\n');
}

/** The time of day on this machine, with milliseconds. */
function clock(time: unknown): string {
  const at = new Date(typeof time === 'number' ? time : Number.NaN);
  if (Number.isNaN(at.getTime())) return '';
  const of = (value: number, digits = 2): string => String(value).padStart(digits, '0');
  const hours = `${of(at.getHours())}:${of(at.getMinutes())}:${of(at.getSeconds())}`;
  return `${hours}.${of(at.getMilliseconds(), 3)}`;
}

function processName(name: unknown): string {
  return typeof name === 'string' ? flat(name.replace(/^colloquy-/, '')).padEnd(7) : '';
}

function errorText(error: unknown): string {
  if (typeof error === 'string') return flat(error);
  if (!isRecord(error)) return '';
  const { type, message } = error;
  return [type, message]
    .flatMap((part) => (typeof part === 'string' ? [flat(part)] : []))
    .join(': ');
}

function framesOf(error: unknown): readonly string[] {
  const stack = isRecord(error) ? error['stack'] : undefined;
  if (typeof stack !== 'string') return [];
  const frames = stack.split('\n').map((frame) => frame.trim());
  return frames
    .filter((frame) => frame.startsWith('at '))
    .slice(0, MAX_FRAMES)
    .map(visible);
}

function valueText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const short = text.length > MAX_VALUE_CHARS ? `${cutText(text, MAX_VALUE_CHARS)}…` : text;
  return typeof value === 'string' && /\s|^$/u.test(short) ? `"${flat(short)}"` : flat(short);
}

/** On one line, with every character visible. */
function flat(text: string): string {
  return visible(text.replaceAll(/\s+/gu, ' ').trim());
}

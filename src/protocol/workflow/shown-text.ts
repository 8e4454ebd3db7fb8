/**
 * Shows texts of models, tools and callers in pages and terminals: every character is visible, and none is interpreted.
 * The text is a Markdown code span, which renderers leave as it is, and contains neither the end of a code span nor
 * that of a quoted shell word. Pure.
 */
import { isRecord } from '../values/json.js';
import { cutText } from '../values/well-formed.js';

/**
 * Invisible characters, and those that a terminal interprets, apart from the space and the line break. A text: bundlers
 * would expand the classes of a literal into ten thousand characters.
 */
const UNSEEN_CHAR = '(?![ \\n])[\\p{C}\\p{Z}\\p{Default_Ignorable_Code_Point}]';

/**
 * Ends of code spans and quoted words, starts of tags and cells, all invisible characters (control, bidi, zero-width),
 * and the names that the Temporal UI replaces before it renders a page.
 */
const ACTIVE = new RegExp(
  ["[<>&`|']", UNSEEN_CHAR, '\\{(?=(?:namespace|workflowId|runId)\\})'].join('|'),
  'gu',
);
const UNSEEN = new RegExp(UNSEEN_CHAR, 'gu');
/** Renderers collapse several spaces into one and drop those at either end. */
const LOST_SPACE = / (?= |$)|^ /g;

const MAX_TEXT_CHARS = 200;
const MAX_DEPTH = 6;

/**
 * The same JSON, in which every string is escaped so that nothing in it is interpreted. In a shell, one pair of `'`
 * around it is enough.
 */
export function safeJson(value: unknown, indent?: number): string {
  return safe(JSON.stringify(value, undefined, indent));
}

/** A text as a code span, followed by the number of characters left out. */
export function shownText(text: string, maxChars = MAX_TEXT_CHARS): string {
  if (text === '') return '`""`';
  const kept = cut(text, maxChars);
  const written = JSON.stringify(kept).slice(1, -1).replaceAll('\\"', '"');
  return `${codeSpan(written)}${more(text.length - kept.length, ' characters')}`;
}

/** A JSON value as a code span of at most about `maxChars`; omissions are marked inside it, outside of all quotes. */
export function shownJson(value: unknown, maxChars: number): string {
  return codeSpan(written(value, { left: maxChars }, 0));
}

/** Quotes any text as one word for a POSIX shell. */
export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A text that fits is returned unchanged, including half a surrogate pair. */
function cut(text: string, maxChars: number): string {
  return text.length > maxChars ? cutText(text, maxChars) : text;
}

function codeSpan(text: string): string {
  return `\`${safe(text).replaceAll(LOST_SPACE, '\\u0020')}\``;
}

function safe(text: string): string {
  return text.replaceAll(ACTIVE, asEscapes);
}

/** The text with every character visible; spaces and line breaks stay. */
export function visible(text: string): string {
  return text.replaceAll(UNSEEN, asEscapes);
}

function asEscapes(found: string): string {
  return Array.from({ length: found.length }, (_, index) => {
    const unit = found.charCodeAt(index).toString(16);
    return `\\u${unit.padStart(4, '0')}`;
  }).join('');
}

function more(count: number, what = ''): string {
  return count > 0 ? ` … ${count} more${what}` : '';
}

interface TextBudget {
  left: number;
}

function written(value: unknown, budget: TextBudget, depth: number): string {
  const inner = depth < MAX_DEPTH ? budget : { left: 0 };
  const below = (item: unknown): string => written(item, budget, depth + 1);
  if (Array.isArray(value)) return `[${listed(value, inner, below)}]`;
  if (isRecord(value)) {
    const fields = Object.entries(value).filter(([, item]) => item !== undefined);
    const field = ([name, item]: [string, unknown]): string => `${below(name)}: ${below(item)}`;
    return `{${listed(fields, inner, field)}}`;
  }
  const text = typeof value === 'string' ? cutString(value, budget) : JSON.stringify(value ?? null);
  budget.left -= text.length;
  return text;
}

function listed<Item>(
  items: readonly Item[],
  budget: TextBudget,
  write: (item: Item) => string,
): string {
  const parts: string[] = [];
  for (const item of items) {
    if (budget.left <= 0) break;
    budget.left -= 2;
    parts.push(write(item));
  }
  return `${parts.join(', ')}${more(items.length - parts.length)}`.trimStart();
}

/** Keeps at least the first 20 characters. */
function cutString(text: string, { left }: TextBudget): string {
  const kept = cut(text, Math.max(20, Math.min(MAX_TEXT_CHARS, left)));
  return `${JSON.stringify(kept)}${more(text.length - kept.length, ' characters')}`;
}

/**
 * URL templates: `https://host/path/{param}?query={param}`. A parameter is always one value inside one segment of the
 * path, or inside one value of the query: none can change scheme, host, port or the number of segments. Runs anywhere.
 */

/** A text or the name of a parameter; the two alternate. */
type Piece = { readonly text: string } | { readonly param: string };

/** A validated template; made by `parseUrlTemplate` only. */
export interface UrlTemplate {
  /** Scheme, host and port, as written. */
  readonly origin: string;
  readonly path: readonly Piece[];
  /** The query without the question mark; empty when there is none. */
  readonly query: readonly Piece[];
  /** Names of the parameters, each once, in order of appearance. */
  readonly params: readonly string[];
}

export type ParsedTemplate =
  | { readonly ok: true; readonly template: UrlTemplate }
  | { readonly ok: false; readonly problems: readonly string[] };

const PARTS = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)([^?#]*)(?:\?([^#]*))?(#.*)?$/is;
const HOST = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?$/i;
/** Characters that a path and a query may have unencoded. @see https://www.rfc-editor.org/rfc/rfc3986#section-3.3 */
const TEXT = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/?]|%[0-9A-Fa-f]{2})*$/;
const PARAM = /\{([^{}]*)\}/g;
const PARAM_NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/** Parses a template; lists every fault. Never throws. */
export function parseUrlTemplate(text: unknown): ParsedTemplate {
  if (typeof text !== 'string') return { ok: false, problems: ['must be a text'] };
  const parts = PARTS.exec(text);
  if (parts === null)
    return { ok: false, problems: ['must be an absolute URL, such as https://api.example.com/v1'] };
  const [, scheme = '', authority = '', pathText = '', queryText = '', fragment] = parts;
  const problems = authorityProblems(scheme, authority);
  if (fragment !== undefined) problems.push('has a fragment, which no server sees');
  const path = piecesOf(pathText === '' ? '/' : pathText, 'path', problems);
  const query = piecesOf(queryText, 'query', problems);
  for (const segment of pathText.split('/'))
    if (isDots(segment)) problems.push(`has the path segment "${segment}", which changes the path`);
  if (problems.length > 0) return { ok: false, problems };
  const params = [...new Set([...path, ...query].flatMap((it) => ('param' in it ? it.param : [])))];
  return { ok: true, template: { origin: `${scheme}://${authority}`, path, query, params } };
}

function authorityProblems(scheme: string, authority: string): string[] {
  const problems: string[] = [];
  if (scheme.toLowerCase() !== 'https' && scheme.toLowerCase() !== 'http')
    problems.push(`must begin with https:// or http://, got ${scheme}://`);
  if (authority.includes('@'))
    problems.push('must hold no name or password; give a header by secret(...)');
  else if (authority.includes('{'))
    problems.push('has a parameter in its host, which must be fixed');
  else if (!HOST.test(authority)) problems.push(`has no valid host: "${authority}"`);
  return problems;
}

function piecesOf(text: string, where: 'path' | 'query', problems: string[]): readonly Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const found of text.matchAll(PARAM)) {
    const [whole, param = ''] = found;
    pieces.push({ text: text.slice(end, found.index) }, { param });
    if (!PARAM_NAME.test(param)) problems.push(`has a parameter "{${param}}" that names no field`);
    end = found.index + whole.length;
  }
  pieces.push({ text: text.slice(end) });
  for (const piece of pieces)
    if ('text' in piece && !TEXT.test(piece.text))
      problems.push(`has characters in its ${where} that must be URL-encoded: "${piece.text}"`);
  return pieces.filter((piece) => !('text' in piece) || piece.text !== '');
}

export type FilledUrl =
  | { readonly ok: true; readonly path: string; readonly query: string }
  /** `problem` names the field. */
  | { readonly ok: false; readonly problem: string };

/**
 * Puts values into a template. A value that would change the meaning of the URL is refused, not repaired. Never throws.
 */
export function fillUrl(
  template: UrlTemplate,
  values: Readonly<Record<string, unknown>>,
): FilledUrl {
  const problems: string[] = [];
  const fill = (pieces: readonly Piece[], place: 'path' | 'query'): string =>
    pieces
      .map((piece) => {
        if ('text' in piece) return piece.text;
        const encoded = encodedParam(values[piece.param], place);
        if (encoded.ok) return encoded.text;
        problems.push(`${piece.param} ${encoded.rule}`);
        return '';
      })
      .join('');
  const path = fill(template.path, 'path');
  const query = fill(template.query, 'query');
  const [problem] = problems;
  if (problem !== undefined) return { ok: false, problem };
  // A value that is harmless alone may still make dots with the text beside it.
  if (path.split('/').some(isDots))
    return { ok: false, problem: 'the path would have a segment of dots' };
  return { ok: true, path, query };
}

type Encoded =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly rule: string };

function encodedParam(value: unknown, place: 'path' | 'query'): Encoded {
  const text = plainText(value);
  if (text === undefined) return { ok: false, rule: 'must be a text, a number or a truth value' };
  if (place === 'path' && text === '') return { ok: false, rule: 'must not be empty' };
  if (place === 'path' && hasDotSegment(text))
    return { ok: false, rule: 'must not be or hold a path segment of dots' };
  if (hasControl(text)) return { ok: false, rule: 'must hold no control characters' };
  try {
    return { ok: true, text: encodeURIComponent(text) };
  } catch {
    return { ok: false, rule: 'is not well-formed Unicode' };
  }
}

/** The text of a value that can be in a URL by itself; undefined for any other value. */
export function plainText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : undefined;
}

/**
 * Whether a value has a segment of dots. Some servers decode "%2F" before they parse the path, so the dots of `../x`
 * would climb there.
 */
function hasDotSegment(text: string): boolean {
  const decoded = text.replaceAll(/%2e/gi, '.').replaceAll(/%2f|%5c/gi, '/');
  return decoded.split(/[/\\]/).some(isDots);
}

function isDots(segment: string): boolean {
  return /^(?:\.|%2e){1,2}$/i.test(segment);
}

function hasControl(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x20 || unit === 0x7f) return true;
  }
  return false;
}

/** Regular expressions of JSON Schema, which are those of ECMA-262, in the syntax of RE2. Pure; runs anywhere. */

/** Long names of Unicode's general categories that RE2 knows by their short ones alone. */
const CATEGORIES: Readonly<Record<string, string | undefined>> = {
  Letter: 'L',
  Uppercase_Letter: 'Lu',
  Lowercase_Letter: 'Ll',
  Titlecase_Letter: 'Lt',
  Modifier_Letter: 'Lm',
  Other_Letter: 'Lo',
  Mark: 'M',
  Number: 'N',
  Decimal_Number: 'Nd',
  Punctuation: 'P',
  Symbol: 'S',
  Separator: 'Z',
  Space_Separator: 'Zs',
};

/** Both match Unicode's spaces and line ends in ECMA-262, and only those of ASCII in RE2. */
const SPACES =
  '\\t\\n\\v\\f\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';
const NO_LINE_END = '[^\\n\\r\\x{2028}\\x{2029}]';

/**
 * The same expression where RE2 would read it otherwise: `\s`, `\S`, `.` and the long names of `\p{…}`. Escapes that differ in form
 * alone (`\u00e9`) are left to RE2JS. `\S` inside brackets stays as it is: RE2 has no word for it.
 */
export function inRe2(source: string): string {
  let inClass = false;
  const token = /\\(?:[pP]\{[^}]*\}|[\s\S])|[[\].]/g;
  return source.replace(token, (found) => {
    if (found === '.') return inClass ? found : NO_LINE_END;
    if (found === '[') inClass = true;
    else if (found === ']') inClass = false;
    else if (found === '\\s') return inClass ? SPACES : `[${SPACES}]`;
    else if (found === '\\S' && !inClass) return `[^${SPACES}]`;
    else if (/^\\[pP]\{/.test(found)) return propertyIn(found);
    return found;
  });
}

function propertyIn(escape: string): string {
  const [, kind = 'p', name = ''] =
    /^\\([pP])\{(?:(?:General_Category|gc|Script|sc)=)?([^}]*)\}$/.exec(escape) ?? [];
  return `\\${kind}{${CATEGORIES[name] ?? name}}`;
}

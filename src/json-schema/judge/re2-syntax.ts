/**
 * Converts regular expressions of JSON Schema, which are those of ECMA-262, to the syntax of RE2. Pure; runs anywhere.
 */

/** Long names of Unicode's general categories, of which RE2 knows the short ones only. */
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

/** In ECMA-262, `\s` and `.` know Unicode's spaces and line ends; in RE2 only those of ASCII. */
const SPACES =
  '\\t\\n\\v\\f\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';
const NO_LINE_END = '[^\\n\\r\\x{2028}\\x{2029}]';

/**
 * Rewrites the parts that RE2 would interpret differently: `\s`, `\S`, `.` and the long names of `\p{…}`. RE2JS
 * converts escapes that differ in form only (`\u00e9`). `\S` inside brackets stays as it is: RE2 cannot express it
 * there.
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

/**
 * The formats of JSON Schema that are checked; all others admit every text. Each check takes time linear in the text:
 * expressions are anchored, no two neighbouring repetitions can match the same text, and texts of a format with a
 * maximum length are measured first.
 * @see https://json-schema.org/draft/2020-12/json-schema-validation#section-7.3
 */
import { z } from 'zod';

type Format = (text: string) => boolean;

const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const [year = 0, month = 0, day = 0] = text.split('-').map(Number);
  if (day < 1 || day > (DAYS[month - 1] ?? 0)) return false;
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month !== 2 || day < 29 || isLeap;
}

/** RFC 3339, leap seconds included. */
function isTime(text: string): boolean {
  if (text.length > 100) return false;
  const parts = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|([+-])(\d\d):(\d\d))$/i.exec(text);
  if (parts === null) return false;
  const [hour = 0, minute = 0, second = 0] = parts.slice(1, 4).map(Number);
  const [offsetHour = 0, offsetMinute = 0] = [parts[5] ?? '0', parts[6] ?? '0'].map(Number);
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return false;
  const sign = parts[4] === '-' ? 1 : -1;
  const inUtc = hour * 60 + minute + sign * (offsetHour * 60 + offsetMinute);
  return second < 60 || (inUtc + 1_440) % 1_440 === 1_439;
}

function isDateTime(text: string): boolean {
  return /^.{10}[t ]/i.test(text) && isDate(text.slice(0, 10)) && isTime(text.slice(11));
}

function isHostname(text: string): boolean {
  if (text.length > 253) return false;
  return text.split('.').every((label) => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i.test(label));
}

/** RFC 5321: a dotted or quoted name of at most 64 characters, and a host or an address in brackets. */
function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  if (at < 1 || at > 64 || text.length > 320) return false;
  const name = text.slice(0, at);
  const host = text.slice(at + 1);
  const isName =
    /^"(?:[ !#-[\]-~]|\\[ -~])*"$/.test(name) ||
    name.split('.').every((atom) => /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+$/i.test(atom));
  if (!isName || !host.startsWith('[')) return isName && isHostname(host);
  const [, version, address = ''] = /^\[(ipv6:)?([^\]]*)\]$/i.exec(host) ?? [];
  return version === undefined ? z.regexes.ipv4.test(address) : isIpv6(address);
}

function isIpv6(text: string): boolean {
  return text.length <= 45 && z.ipv6().safeParse(text).success;
}

/** Characters of RFC 3986, with one fragment at most. Brackets are allowed around an address only. */
function isUriReference(text: string): boolean {
  if (!/^(?:[a-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9a-f]{2})*$/i.test(text)) return false;
  if (text.indexOf('#') !== text.lastIndexOf('#')) return false;
  const [authority = '', ...others] = text.split(/[?#]/);
  const rest = authority.replace(/^([a-z][a-z0-9+.-]*:)?\/\/[^/]*/i, '');
  return !/[[\]]/.test(rest + others.join(''));
}

function isUri(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(text) && isUriReference(text);
}

/** RFC 6570. */
function isUriTemplate(text: string): boolean {
  return text.split(/(\{[^{}]*\})/).every((part, index) =>
    index % 2 === 0
      ? !/[\u0000-\u0020\u007f"<>\\^`{|}]/.test(part) && !/%(?![0-9a-f]{2})/i.test(part)
      : part
          .slice(1, -1)
          .replace(/^[+#./;?&=,!@|]/, '')
          .split(',')
          .every((name) => /^(?:\.?(?:[a-z0-9_]|%[0-9a-f]{2}))+(?:\*|:[1-9]\d{0,3})?$/i.test(name)),
  );
}

function isUrl(text: string): boolean {
  return /^(?:https?|ftp):\/\/[^/?#]/i.test(text) && isUriReference(text);
}

/** Limit for expressions that are compiled to check them; longer ones are not expected in honest use. */
const MAX_REGEX_CHARS = 10_000;

function isRegex(text: string): boolean {
  if (text.length > MAX_REGEX_CHARS) return false;
  try {
    return new RegExp(text, 'u').source !== '';
  } catch {
    return false;
  }
}

/** RFC 3339, appendix A: weeks, or units without a gap between them. */
function isDuration(text: string): boolean {
  if (!/^P(?:\d+[YMWD])*(?:T(?:\d+[HMS])+)?$/.test(text)) return false;
  const [date = '', time] = text.slice(1).replaceAll(/\d/g, '').split('T');
  if (date === 'W') return time === undefined;
  return date + (time ?? '') !== '' && 'YMD'.includes(date) && 'HMS'.includes(time ?? '');
}

export const FORMATS: Readonly<Record<string, Format | undefined>> = {
  date: isDate,
  time: isTime,
  'date-time': isDateTime,
  duration: isDuration,
  email: isEmail,
  hostname: isHostname,
  ipv4: (text) => text.length <= 15 && z.regexes.ipv4.test(text),
  ipv6: isIpv6,
  uri: isUri,
  'uri-reference': isUriReference,
  'uri-template': isUriTemplate,
  url: isUrl,
  uuid: (text) => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text),
  regex: isRegex,
  'json-pointer': (text) => /^(?:\/(?:[^~/]|~[01])*)*$/.test(text),
  'json-pointer-uri-fragment': (text) => text.startsWith('#') && isUriReference(text),
  'relative-json-pointer': (text) => /^(?:0|[1-9]\d*)(?:#|(?:\/(?:[^~/]|~[01])*)*)$/.test(text),
};

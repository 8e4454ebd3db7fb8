/**
 * Packs many records of few kinds into little text that still compresses well: in columns, with each number or instant
 * as the difference from the one before, and repeated texts written once. Lossless. Pure.
 */
import type { Dictionary } from '../state/state.js';
import { isoOf } from '../state/time.js';

/**
 * Content of a column: any text (written once, then by number), an id of a turn, an instant, a whole number, or plain
 * letters and digits.
 */
export type ColumnKind = 'word' | 'turn' | 'time' | 'count' | 'plain';

export type Columns = Readonly<Record<string, ColumnKind>>;

type Value<Kind extends ColumnKind> = Kind extends 'count' ? number : string;

/** One record: a value, or none, in each column. */
export type Row<Of extends Columns> = { readonly [Name in keyof Of]?: Value<Of[Name]> };

type PlainRow = Readonly<Record<string, string | number>>;

const RADIX = 36;

const MOST_SHARED = RADIX - 1;

const BETWEEN_ROWS = ' ';

const BETWEEN_VALUES = ',';

/** Instants of years with four digits, whose differences in milliseconds are exact. */
const OUR_TIME = /^\d{4}-.{18}Z$/;

/** Precedes an instant in another form than the engine's; the rest is the number of a word. */
const OTHER_TIME = '~';

/** Collects the texts that several tables of rows refer to. */
export class DictionaryWriter {
  readonly #turns = new Map<string, number>();
  readonly #words = new Map<string, number>();

  turn(id: string): number {
    return numberIn(this.#turns, id);
  }

  word(text: string): number {
    return numberIn(this.#words, text);
  }

  get dictionary(): Dictionary {
    let before = '';
    const turns = [...this.#turns.keys()].map((id) => {
      const shared = sharedLength(before, id);
      before = id;
      return shared.toString(RADIX) + id.slice(shared);
    });
    return { turns, words: [...this.#words.keys()] };
  }
}

function numberIn(numbers: Map<string, number>, text: string): number {
  const known = numbers.get(text);
  if (known !== undefined) return known;
  numbers.set(text, numbers.size);
  return numbers.size - 1;
}

function sharedLength(before: string, next: string): number {
  let length = 0;
  while (length < MOST_SHARED && length < before.length && before[length] === next[length])
    length += 1;
  return length;
}

/** The ids of turns in a dictionary. */
export function turnsIn({ turns }: Pick<Dictionary, 'turns'>): readonly string[] {
  let before = '';
  return turns.map((entry) => {
    before = before.slice(0, Number.parseInt(entry.charAt(0), RADIX)) + entry.slice(1);
    return before;
  });
}

export function packRows<Of extends Columns>(
  columns: Of,
  rows: readonly Row<Of>[],
  into: DictionaryWriter,
): string {
  const before = new Before();
  return rows
    .map((row) => {
      const values = Object.entries(columns).map(([name, kind]) => {
        const value = (row as PlainRow)[name];
        return value === undefined ? '' : written(value, { kind, name, into, before });
      });
      return values.join(BETWEEN_VALUES).replace(/,+$/, '');
    })
    .join(BETWEEN_ROWS);
}

/** The inverse of `packRows`. */
export function unpackRows<Of extends Columns>(
  columns: Of,
  packed: string,
  from: { readonly turns: readonly string[]; readonly words: readonly string[] },
): readonly Row<Of>[] {
  if (packed === '') return [];
  const before = new Before();
  const kinds = Object.entries(columns);
  return packed.split(BETWEEN_ROWS).map((text) => {
    const row: Record<string, string | number> = {};
    for (const [index, value] of text.split(BETWEEN_VALUES).entries()) {
      const [name, kind] = kinds[index] ?? [];
      if (value !== '' && name !== undefined && kind !== undefined)
        row[name] = read(value, { kind, name, from, before });
    }
    return row as Row<Of>;
  });
}

/** The newest value of each column. */
class Before {
  readonly #values = new Map<string, number>();

  step(name: string, value: number): string {
    const step = value - (this.#values.get(name) ?? 0);
    this.#values.set(name, value);
    return step.toString(RADIX);
  }

  value(name: string, step: string): number {
    const value = (this.#values.get(name) ?? 0) + Number.parseInt(step, RADIX);
    this.#values.set(name, value);
    return value;
  }
}

function written(
  value: string | number,
  as: {
    readonly kind: ColumnKind;
    readonly name: string;
    readonly into: DictionaryWriter;
    readonly before: Before;
  },
): string {
  const { kind, name, into, before } = as;
  switch (kind) {
    case 'plain':
      return String(value);
    case 'word':
      return into.word(String(value)).toString(RADIX);
    case 'turn':
      return before.step(name, into.turn(String(value)));
    case 'count':
      return before.step(name, Number(value));
    case 'time': {
      const at = Date.parse(String(value));
      const isOurs = OUR_TIME.test(String(value)) && !Number.isNaN(at) && isoOf(at) === value;
      return isOurs ? before.step(name, at) : OTHER_TIME + into.word(String(value)).toString(RADIX);
    }
  }
}

function read(
  text: string,
  as: {
    readonly kind: ColumnKind;
    readonly name: string;
    readonly from: { readonly turns: readonly string[]; readonly words: readonly string[] };
    readonly before: Before;
  },
): string | number {
  const { kind, name, from, before } = as;
  switch (kind) {
    case 'plain':
      return text;
    case 'word':
      return from.words[Number.parseInt(text, RADIX)] ?? '';
    case 'turn':
      return from.turns[before.value(name, text)] ?? '';
    case 'count':
      return before.value(name, text);
    case 'time':
      return text.startsWith(OTHER_TIME)
        ? (from.words[Number.parseInt(text.slice(1), RADIX)] ?? '')
        : isoOf(before.value(name, text));
  }
}

/**
 * Converts lines to NOTIFY payloads and back. A payload has less than 8,000 bytes (Postgres' limit), so the lines of
 * one transaction are cut to pieces. Postgres delivers the payloads of a transaction together and in order, so the
 * pieces of two senders are never mixed.
 */

/** Leaves space for the numbers of the piece. */
const MAX_PIECE_CHARS = 7_900;

/** The payloads of one transaction. Each has its number, because Postgres delivers equal ones of a transaction once. */
export function payloadsOf(texts: readonly string[]): readonly string[] {
  const text = texts.map(ascii).join('\n');
  const count = Math.ceil(text.length / MAX_PIECE_CHARS);
  return Array.from({ length: count }, (_, index) => {
    const piece = text.slice(index * MAX_PIECE_CHARS, (index + 1) * MAX_PIECE_CHARS);
    return `${index + 1}/${count} ${piece}`;
  });
}

/** Joins the payloads of one channel and one connection. */
export class Assembly {
  #pieces: string[] = [];

  /** The lines of a transaction, once its last payload has arrived. A payload of another origin is ignored. */
  take(payload: string): readonly string[] {
    const [head = '', number, count] = /^(\d+)\/(\d+) /.exec(payload) ?? [];
    if (number === '1') this.#pieces = [];
    if (Number(number) !== this.#pieces.length + 1) return [];
    this.#pieces.push(payload.slice(head.length));
    if (number !== count) return [];
    const text = this.#pieces.join('');
    this.#pieces = [];
    return text.split('\n');
  }
}

/** Escapes the characters that are longer than a byte, which lines contain only inside strings of JSON. */
function ascii(text: string): string {
  return text.replace(
    /[^\x20-\x7e]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

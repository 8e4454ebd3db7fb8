/**
 * Strict mode of function calling: the form of a JSON Schema by which a provider constrains its model's output. Every
 * property is required, no other is allowed, and a property that may be absent may be null instead; the worker removes
 * those nulls again (`absent-nulls.ts`). The strict form admits all values that the schema admits, and possibly more:
 * the schema itself decides in the end. Pure; runs anywhere.
 * @see https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
 */

import { canonicalJson, isRecord, type Json, type JsonSchema } from '../protocol/values/json.js';
import { admitsNull } from './absent-nulls.js';
import {
  isAnnotation,
  isDefinitions,
  isStrictType,
  rulesOf,
  unknownKeyword,
} from './strict-keywords.js';

export type StrictSchema =
  | { readonly ok: true; readonly schema: JsonSchema }
  /** The place that cannot be strict and the reason, as a text for the author. */
  | { readonly ok: false; readonly problem: string };

/** Limits of the provider, for one schema. */
const MAX_PROPERTIES = 5_000;
const MAX_DEPTH = 10;
const MAX_NAME_CHARS = 120_000;
const MAX_ENUM_VALUES = 1_000;
/** Limit for one enum of texts with more than `MANY_TEXTS` values. */
const MAX_ENUM_CHARS = 15_000;
const MANY_TEXTS = 250;

/**
 * Converts a schema whose objects are closed (those of zod are: a plain object drops unknown keys) to the strict form.
 * Never throws.
 */
export function strictSchema(schema: JsonSchema): StrictSchema {
  const converter = new Converter(schema);
  try {
    const made = converter.convert(schema, { path: '', depth: 0 });
    if (made['type'] !== 'object') throw new NotStrict('', 'is not an object at the top');
    converter.checkBounds();
    return { ok: true, schema: made };
  } catch (error) {
    if (!(error instanceof NotStrict)) throw error;
    return { ok: false, problem: error.message };
  }
}

/** True for a schema that is strict already, so that it can be sent unchanged. Never throws. */
export function isStrict(schema: JsonSchema): boolean {
  const made = strictSchema(schema);
  return made.ok && canonicalJson(made.schema) === canonicalJson(schema);
}

class NotStrict extends Error {
  constructor(path: string, rule: string) {
    super(path === '' ? `it ${rule}` : `"${path}" ${rule}`);
  }
}

interface Place {
  /** Path for people: `lines[].sku`. */
  readonly path: string;
  /** Number of objects and lists around the place. */
  readonly depth: number;
}

class Converter {
  readonly #root: JsonSchema;
  #properties = 0;
  #nameChars = 0;
  #enumValues = 0;

  constructor(root: JsonSchema) {
    this.#root = root;
  }

  checkBounds(): void {
    if (this.#properties > MAX_PROPERTIES)
      throw new NotStrict('', `has ${this.#properties} properties; at most ${MAX_PROPERTIES}`);
    if (this.#nameChars > MAX_NAME_CHARS)
      throw new NotStrict('', `has names and values of ${this.#nameChars} characters in all`);
    if (this.#enumValues > MAX_ENUM_VALUES)
      throw new NotStrict('', `has ${this.#enumValues} enum values; at most ${MAX_ENUM_VALUES}`);
  }

  convert(schema: unknown, place: Place): JsonSchema {
    if (!isRecord(schema)) throw new NotStrict(place.path, 'takes anything');
    const given = schema as JsonSchema;
    const unknown = unknownKeyword(given);
    if (unknown !== undefined)
      throw new NotStrict(place.path, `uses "${unknown}", which strict mode does not have`);
    if (place.depth > MAX_DEPTH)
      throw new NotStrict(place.path, `is nested deeper than ${MAX_DEPTH}`);
    const description = descriptionOf(given);
    const definitions = this.#definitions(given, place);
    const { $ref: ref, title } = given;
    const head = {
      ...(typeof title === 'string' ? { title } : {}),
      ...(description === '' ? {} : { description }),
    };
    if (ref !== undefined) {
      // Strict mode allows no keyword beside a reference.
      const plain = { $ref: this.#ref(ref, place) };
      return description === ''
        ? { ...plain, ...definitions }
        : { anyOf: [plain], ...head, ...definitions };
    }
    return { ...this.#body(given, place), ...head, ...definitions };
  }

  #body(given: JsonSchema, place: Place): JsonSchema {
    const union = given['anyOf'] ?? given['oneOf'];
    if (union !== undefined) return this.#union(given, union, place);
    const values = given['const'] === undefined ? given['enum'] : [given['const']];
    if (values !== undefined) return this.#values(given, values, place);
    const { type } = given;
    if (Array.isArray(type)) return this.#several(given, type, place);
    if (typeof type !== 'string' || !isStrictType(type))
      throw new NotStrict(place.path, 'takes anything');
    if (type === 'object') return this.#object(given, place);
    const rules = rulesOf(given, type);
    return type === 'array'
      ? { type, items: this.convert(given['items'], inItems(place)), ...rules }
      : { type, ...rules };
  }

  #object(given: JsonSchema, place: Place): JsonSchema {
    const { properties, additionalProperties } = given;
    const isOpen = additionalProperties !== undefined && additionalProperties !== false;
    if (isOpen || given['propertyNames'] !== undefined)
      throw new NotStrict(
        place.path,
        'takes keys that are not named (a record, or a loose object)',
      );
    const required = Array.isArray(given['required']) ? (given['required'] as readonly Json[]) : [];
    const fields = Object.entries(isRecord(properties) ? properties : {});
    const unnamed = required.find((name) => !fields.some(([field]) => field === name));
    if (unnamed !== undefined) throw new NotStrict(place.path, 'requires a key that is not named');
    const converted = fields.map(([name, field]): readonly [string, JsonSchema] => {
      this.#properties += 1;
      this.#nameChars += name.length;
      const path = place.path === '' ? name : `${place.path}.${name}`;
      const made = this.convert(field, { path, depth: place.depth + 1 });
      const mayBeAbsent = !required.includes(name) && !admitsNull(field as JsonSchema, this.#root);
      return [name, mayBeAbsent ? orNull(made) : made];
    });
    return {
      type: 'object',
      properties: Object.fromEntries(converted),
      required: fields.map(([name]) => name),
      additionalProperties: false,
    };
  }

  #union(given: JsonSchema, union: Json, place: Place): JsonSchema {
    if (place.path === '' && place.depth === 0) throw new NotStrict('', 'is a choice at the top');
    if (given['anyOf'] !== undefined && given['oneOf'] !== undefined)
      throw new NotStrict(place.path, 'has both anyOf and oneOf');
    // A keyword beside a union narrows it; the strict form cannot express that.
    const beside = Object.keys(given).find(
      (key) => !isAnnotation(key) && key !== 'anyOf' && key !== 'oneOf' && !isDefinitions(key),
    );
    if (beside !== undefined) throw new NotStrict(place.path, `has "${beside}" beside a choice`);
    const branches = Array.isArray(union) ? (union as readonly Json[]) : [];
    if (branches.length === 0) throw new NotStrict(place.path, 'takes nothing');
    return { anyOf: branches.map((branch) => this.convert(branch, place)) };
  }

  #values(given: JsonSchema, values: Json, place: Place): JsonSchema {
    const list = Array.isArray(values) ? (values as readonly Json[]) : [];
    if (list.length === 0 || list.some((value) => typeof value === 'object' && value !== null))
      throw new NotStrict(place.path, 'has values that are objects or lists');
    const texts = list.filter((value) => typeof value === 'string');
    const chars = texts.reduce((sum, text) => sum + text.length, 0);
    this.#nameChars += chars;
    this.#enumValues += list.length;
    if (texts.length > MANY_TEXTS && chars > MAX_ENUM_CHARS)
      throw new NotStrict(
        place.path,
        `has enum values of ${chars} characters; at most ${MAX_ENUM_CHARS}`,
      );
    const types = [...new Set(list.map(typeOfValue))];
    const type = given['type'] ?? (types.length === 1 ? types[0] : types);
    return given['const'] === undefined
      ? { type: type, enum: list }
      : { type: type, const: given['const'] };
  }

  /** Converts `type: ['string', 'null']`: each type has the rules of its own. */
  #several(given: JsonSchema, types: readonly Json[], place: Place): JsonSchema {
    const plain = types.filter(
      (it) => typeof it === 'string' && isStrictType(it),
    ) as readonly string[];
    if (plain.length !== types.length || plain.includes('object') || plain.includes('array'))
      throw new NotStrict(place.path, 'is of several types, objects or lists among them');
    const rules: readonly JsonSchema[] = plain.map((type) => rulesOf(given, type));
    return rules.reduce<JsonSchema>((all, own) => ({ ...all, ...own }), { type: plain });
  }

  #definitions(given: JsonSchema, place: Place): JsonSchema {
    const made: Record<string, Json> = {};
    for (const keyword of ['$defs', 'definitions']) {
      const definitions = given[keyword];
      if (!isRecord(definitions)) continue;
      if (place.path !== '' || place.depth > 0)
        throw new NotStrict(place.path, `has ${keyword} that are not at the top`);
      const converted = Object.entries(definitions).map(([name, definition]) => {
        this.#nameChars += name.length;
        return [name, this.convert(definition, { path: `${keyword}.${name}`, depth: 1 })] as const;
      });
      made[keyword] = Object.fromEntries(converted);
    }
    return made;
  }

  #ref(ref: Json, place: Place): string {
    if (typeof ref !== 'string' || !/^#(?:\/(?:\$defs|definitions)\/[^/]+)?$/.test(ref))
      throw new NotStrict(place.path, 'refers to another document, or into the middle of this one');
    return ref;
  }
}

function inItems({ path, depth }: Place): Place {
  return { path: `${path}[]`, depth: depth + 1 };
}

function descriptionOf({ description, default: given, examples }: JsonSchema): string {
  const parts = [
    typeof description === 'string' ? description : '',
    given === undefined ? '' : `Default: ${JSON.stringify(given)}.`,
    Array.isArray(examples) && examples.length > 0
      ? `Examples: ${examples.map((it) => JSON.stringify(it)).join(', ')}.`
      : '',
  ];
  return parts.filter((part) => part !== '').join(' ');
}

function typeOfValue(value: Json): string {
  if (value === null) return 'null';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

/** Adds null to the values of a schema. The description stays at the top. */
function orNull(schema: JsonSchema): JsonSchema {
  const { type, description } = schema;
  const isPlain = typeof type === 'string' && type !== 'object' && type !== 'array';
  const isOfSeveral = isPlain && !('const' in schema);
  if (isOfSeveral && Array.isArray(schema['enum']))
    return {
      ...schema,
      type: [type, 'null'],
      enum: [...(schema['enum'] as readonly Json[]), null],
    };
  if (isOfSeveral) return { ...schema, type: [type, 'null'] };
  const { description: _description, ...plain } = schema;
  const branches = Object.keys(plain).length === 1 && Array.isArray(plain['anyOf']);
  const choice = branches ? (plain['anyOf'] as readonly Json[]) : [plain];
  return {
    anyOf: [...choice, { type: 'null' }],
    ...(description === undefined ? {} : { description }),
  };
}

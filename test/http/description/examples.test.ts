/** The examples of the description: one for each body, and each right by the schema beside it. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openApiDocument } from '../../../src/http/openapi/document.js';
import { EXAMPLES } from '../../../src/http/openapi/examples/examples.js';
import { OPERATIONS, type Operation } from '../../../src/http/openapi/rows/operations.js';
import { promise } from '../../support/promise.js';

interface Media {
  readonly schema: object;
  readonly example?: object;
  readonly examples?: Readonly<Record<string, { readonly value: object }>>;
}

interface Described {
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, Media>> }>
  >;
}

const JSON_TYPE = 'application/json';
const document = openApiDocument('1.2.3');
const ajv = new Ajv2020({ strict: false, validateFormats: false });

function describedOf({ path, method }: Operation): Described {
  const place = path.replaceAll(/:(\w+)/g, '{$1}');
  return document.paths[place]?.[method] as unknown as Described;
}

/** Rules of the schema in the document that the value breaks. */
function brokenBy({ schema }: Media, value: object): unknown {
  const validate = ajv.compile(schema);
  return validate(sent(value)) ? [] : validate.errors;
}

/** The value as it is in the JSON of the document, without fields that are undefined. */
function sent(value: object): unknown {
  return JSON.parse(JSON.stringify(value));
}

const WITH_BODY = OPERATIONS.filter(({ bodies }) => bodies !== undefined);

const ANSWERS = OPERATIONS.flatMap((operation) =>
  Object.entries(operation.answers)
    .filter(([status, answer]) => Number(status) < 300 && answer instanceof z.ZodType)
    .map(([status, answer]) => ({
      operation,
      id: operation.id,
      status,
      answer: answer as z.ZodType,
    })),
);

describe('the examples of the description', promise('G340'), () => {
  it.each(WITH_BODY)('show bodies of $id that the API takes', (operation) => {
    const media = describedOf(operation).requestBody?.content[JSON_TYPE];
    const shown = Object.values(media?.examples ?? {}).map(({ value }) => value);
    expect(shown.length).toBeGreaterThanOrEqual(operation.bodies?.length ?? 1);
    for (const value of shown) {
      expect(media && brokenBy(media, value)).toEqual([]);
      const parsed = operation.bodies?.map((body) => body.safeParse(sent(value)));
      expect(
        parsed?.some(({ success }) => success),
        JSON.stringify(value),
      ).toBe(true);
    }
    // Each form of the body has an example of its own.
    for (const body of operation.bodies ?? [])
      expect(shown.some((value) => body.safeParse(sent(value)).success)).toBe(true);
  });

  it.each(ANSWERS)('show the answer $status of $id', ({ operation, status, answer }) => {
    const media = describedOf(operation).responses[status]?.content?.[JSON_TYPE];
    const value = media?.example ?? {};
    expect(value).not.toEqual({});
    expect(media && brokenBy(media, value)).toEqual([]);
    expect(answer.safeParse(sent(value)).error).toBeUndefined();
  });

  it('belong to operations, statuses and bodies that there are', () => {
    const strange = Object.entries(EXAMPLES).flatMap(([id, { bodies, answers = {} }]) => {
      const row = OPERATIONS.find((operation) => operation.id === id);
      const known = ANSWERS.filter((one) => one.id === id).map(({ status }) => status);
      const others = Object.keys(answers).filter((status) => !known.includes(status));
      const isBodyless = bodies !== undefined && row?.bodies === undefined;
      return [...others, ...(isBodyless ? ['body'] : [])].map((place) => `${id} ${place}`);
    });
    expect(strange).toEqual([]);
  });
});

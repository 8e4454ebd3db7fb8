/** Changes of the form by which answers are judged, with an answer for the form before and one for the form after. */
import { z } from 'zod';
import type { Json } from '../../../src/protocol/values/json.js';

export interface FormChange {
  readonly what: string;
  readonly now: z.ZodType;
  /** An answer that fits the new form. */
  readonly fresh: Json;
  /** Whether the answer for the form before fits the new form, too. */
  readonly takesOld: boolean;
}

const day = z.string();

/** An answer that fits the form before the change. */
export const OLD_ANSWER = { day: 'monday', hour: 9 };

/** The form before the change; the workflow judges all of it. */
export const PLAIN = z.strictObject({ day, hour: z.int() });

/** The form before the change, where a worker has to check, too. */
export const RECHECKED = z.object({
  day: day.min(1).refine((it) => it !== 'sunday'),
  hour: z.int(),
});

export const FORM_CHANGES: readonly FormChange[] = [
  {
    what: 'a field is added',
    now: z.strictObject({ day, hour: z.int(), place: z.string() }),
    fresh: { ...OLD_ANSWER, place: 'here' },
    takesOld: false,
  },
  {
    what: 'an optional field is added',
    now: z.strictObject({ day, hour: z.int(), place: z.string().optional() }),
    fresh: { ...OLD_ANSWER, place: 'here' },
    takesOld: true,
  },
  {
    what: 'a field is removed',
    now: z.strictObject({ day }),
    fresh: { day: 'monday' },
    takesOld: false,
  },
  {
    what: 'a field is renamed',
    now: z.strictObject({ date: day, hour: z.int() }),
    fresh: { date: 'monday', hour: 9 },
    takesOld: false,
  },
  {
    what: 'a field is narrowed',
    now: z.strictObject({ day, hour: z.int().min(10) }),
    fresh: { day: 'monday', hour: 11 },
    takesOld: false,
  },
  {
    what: 'a field is narrowed, and the answer is still admitted',
    now: z.strictObject({ day, hour: z.int().max(12) }),
    fresh: { day: 'monday', hour: 11 },
    takesOld: true,
  },
  {
    what: 'a field is narrowed by a pattern',
    now: z.strictObject({ day: z.string().regex(/^\d/), hour: z.int() }),
    fresh: { day: '1st', hour: 9 },
    takesOld: false,
  },
  {
    what: 'a field is widened',
    now: z.strictObject({ day, hour: z.number() }),
    fresh: { day: 'monday', hour: 9.5 },
    takesOld: true,
  },
  {
    what: 'a field has another type',
    now: z.strictObject({ day, hour: z.string() }),
    fresh: { day: 'monday', hour: 'nine' },
    takesOld: false,
  },
  {
    what: 'a field has another type and takes the old one',
    now: z.strictObject({ day, hour: z.union([z.string(), z.int()]) }),
    fresh: { day: 'monday', hour: 'nine' },
    takesOld: true,
  },
];

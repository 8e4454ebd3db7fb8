/** Forms of variables of the environment. */
import { z } from 'zod';
import { HOST_NAME_RULE, isHostName, isHttpUrl } from '../../net/hosts.js';

const PORT_RULE = 'must be a port: a whole number from 0 (any free one) to 65535';
export const port = z
  .string()
  .regex(/^\d{1,5}$/, PORT_RULE)
  .transform(Number)
  .refine((value) => value <= 65_535, PORT_RULE);
export const address = z
  .string()
  .regex(/^[\w.[\]:-]+:\d{1,5}$/, 'must be an address and a port, such as 127.0.0.1:9464');
export const limit = z
  .string()
  .regex(/^([1-9]\d{0,8}|off)$/, 'must be a whole number from 1, or off')
  .transform((text) => (text === 'off' ? text : Number(text)));
export const filled = z.string().min(1, 'must not be empty');
export const oneOf = <const Values extends readonly [string, ...string[]]>(...values: Values) =>
  z.enum(values, `must be ${values.join(' or ')}`);

export const list = z.string().transform((text) => text.split(',').map((part) => part.trim()));
export const origins = list.refine(
  (parts) => parts.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin),
  'must be origins, separated by commas: scheme://host:port, with nothing behind',
);
export const httpUrls = list.refine(
  (parts) => parts.every(isHttpUrl),
  'must be addresses such as http://127.0.0.1:8080, separated by commas',
);
export const hostNames = list.refine(
  (parts) => parts.every(isHostName),
  `each of them, separated by commas, ${HOST_NAME_RULE}`,
);

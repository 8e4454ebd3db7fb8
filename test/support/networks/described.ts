/** Compares every answer that a test gets from the API with the description of the API. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { openApiDocument } from '../../../src/http/openapi/document.js';

const DOCUMENT = openApiDocument('0.0.0');
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema({ $id: 'openapi', ...DOCUMENT });
const validators = new Map<string, ValidateFunction>();

interface Described {
  readonly content?: Readonly<Record<string, object>>;
  readonly $ref?: string;
}

const PATHS = Object.keys(DOCUMENT.paths).map((path) => ({
  path,
  // A more specific path stands before one with a parameter in its place.
  matches: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));

/**
 * @throws Error when the status, the type or the form of the answer is not described. Paths without a route, and methods
 * that a route does not have, are answered by problems, which no description has.
 */
export async function requireDescribed(
  method: string,
  url: string,
  response: Response,
): Promise<void> {
  const [pathname = ''] = url.split('?');
  const found = PATHS.find(({ matches }) => matches.test(pathname));
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
  const operation = found === undefined ? undefined : DOCUMENT.paths[found.path]?.[verb];
  if (found === undefined || operation === undefined) return;
  const place = `${verb} ${found.path}: ${response.status}`;
  const answers = operation['responses'] as Readonly<Record<string, Described>>;
  const key = answers[response.status] === undefined ? 'default' : String(response.status);
  if (key === 'default' && response.status < 400) throw new Error(`${place} is not described`);
  const answer = answers[key];
  const content =
    answer?.$ref === undefined
      ? answer?.content
      : (DOCUMENT.components['responses'] as Record<string, Described>)['Problem']?.content;
  const [type = ''] = (response.headers.get('content-type') ?? '').split(';');
  // HEAD has no body, and of a stream there is no end to wait for.
  if (method === 'HEAD' || content === undefined || content['*/*'] !== undefined) return;
  if (content[type] === undefined) throw new Error(`${place}: "${type}" is not described`);
  if (type === 'text/event-stream') return;
  const base = answer?.$ref ?? `#/paths/${pointer(found.path)}/${verb}/responses/${key}`;
  const schema = `openapi${base}/content/${pointer(type)}/schema`;
  const validate = validators.get(schema) ?? ajv.compile({ $ref: schema });
  validators.set(schema, validate);
  const body: unknown = await response.clone().json();
  if (!validate(body))
    throw new Error(`${place}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(body)}`);
}

function pointer(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));
}

/** Compares every answer that a test gets from the API with the description of the API. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { openApiDocument } from '../../../src/http/openapi/document.js';

const DOCUMENT = openApiDocument('0.0.0');
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema({ $id: 'openapi', ...DOCUMENT });
const validators = new Map<string, ValidateFunction>();

interface Described {
  readonly content?: Readonly<Record<string, object>>;
  readonly headers?: Readonly<Record<string, { readonly required?: boolean }>>;
  readonly $ref?: string;
}

/** Headers that an answer has only where the description says so. */
const HEADERS = ['Retry-After', 'Location', 'ETag', 'WWW-Authenticate'];

const PATHS = Object.keys(DOCUMENT.paths).map((path) => ({
  path,
  // A more specific path stands before one with a parameter in its place.
  matches: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));

/**
 * @throws Error when the status, a header, the type or the form of the answer is not described; the form of a problem
 * includes its code. Paths without a route, and methods that a route does not have, are answered by problems, which no
 * description has.
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
  const named = answers[response.status];
  if (named === undefined) throw new Error(`${place} is not described`);
  const { answer, base } = resolved(
    named,
    `#/paths/${pointer(found.path)}/${verb}/responses/${response.status}`,
  );
  requireHeaders(place, answer, response);
  const { content } = answer;
  const [type = ''] = (response.headers.get('content-type') ?? '').split(';');
  if (method === 'HEAD') return;
  if (content === undefined) {
    if ((await response.clone().text()) !== '')
      throw new Error(`${place}: a body is not described`);
    return;
  }
  if (content[type] === undefined) {
    if (content['*/*'] !== undefined) return;
    throw new Error(`${place}: "${type}" is not described`);
  }
  // A stream has no end to wait for.
  if (type === 'text/event-stream') return;
  const schema = `openapi${base}/content/${pointer(type)}/schema`;
  const validate = validators.get(schema) ?? ajv.compile({ $ref: schema });
  validators.set(schema, validate);
  const body: unknown = await response.clone().json();
  if (!validate(body))
    throw new Error(`${place}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(body)}`);
}

/** The answer itself, where operations share it, and its place in the document. */
function resolved(named: Described, base: string): { answer: Described; base: string } {
  const { $ref } = named;
  if ($ref === undefined) return { answer: named, base };
  const shared = DOCUMENT.components['responses'] as Readonly<Record<string, Described>>;
  const answer = shared[$ref.slice('#/components/responses/'.length)];
  if (answer === undefined) throw new Error(`${$ref} is not in the document`);
  return { answer, base: $ref };
}

function requireHeaders(place: string, { headers = {} }: Described, response: Response): void {
  for (const name of HEADERS) {
    const isSent = response.headers.has(name);
    if (isSent && headers[name] === undefined)
      throw new Error(`${place}: ${name} is not described`);
    if (!isSent && headers[name]?.required === true)
      throw new Error(`${place}: ${name} is described, and not sent`);
  }
}

function pointer(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));
}

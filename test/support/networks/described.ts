/** Compares answers that a test gets from a service with the description of that service. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { openApiDocument } from '../../../src/http/openapi/document.js';

interface Described {
  readonly content?: Readonly<Record<string, object>>;
  readonly headers?: Readonly<Record<string, { readonly required?: boolean }>>;
  readonly $ref?: string;
}

/** Headers that an answer has only where the description says so. */
const HEADERS = ['Retry-After', 'Location', 'ETag', 'WWW-Authenticate'];

/**
 * @throws Error when the status, a header, the type or the form of the answer is not described; the form of a problem
 * includes its code. Paths without a route, and methods that a route does not have, are answered by problems, which no
 * description has.
 */
export const requireDescribed = checkerOf(openApiDocument('0.0.0'));

export type Checker = (method: string, url: string, response: Response) => Promise<void>;

interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>
  >;
  readonly components?: unknown;
}

export function checkerOf(document: Document): Checker {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'openapi', ...document });
  const validators = new Map<string, ValidateFunction>();
  const validatorOf = (schema: string): ValidateFunction => {
    const validate = validators.get(schema) ?? ajv.compile({ $ref: schema });
    validators.set(schema, validate);
    return validate;
  };
  const paths = Object.keys(document.paths).map((path) => ({
    path,
    // A more specific path stands before one with a parameter in its place.
    matches: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  }));
  return async (method, url, response) => {
    const [pathname = ''] = url.split('?');
    const path = paths.find(({ matches }) => matches.test(pathname))?.path ?? '';
    const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
    const operation = document.paths[path]?.[verb];
    if (operation !== undefined)
      await requireAnswer({ document, path, verb, operation, validatorOf }, method, response);
  };
}

interface Asked {
  readonly document: Document;
  readonly path: string;
  readonly verb: string;
  readonly operation: Readonly<Record<string, unknown>>;
  readonly validatorOf: (schema: string) => ValidateFunction;
}

async function requireAnswer(
  { document, path, verb, operation, validatorOf }: Asked,
  method: string,
  response: Response,
): Promise<void> {
  const place = `${verb} ${path}: ${response.status}`;
  const answers = operation['responses'] as Readonly<Record<string, Described>>;
  const named = answers[response.status];
  if (named === undefined) throw new Error(`${place} is not described`);
  const { answer, base } = resolved(
    document,
    named,
    `#/paths/${pointer(path)}/${verb}/responses/${response.status}`,
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
  const validate = validatorOf(schema);
  const body: unknown = await response.clone().json();
  if (!validate(body))
    throw new Error(`${place}: ${JSON.stringify(validate.errors)} in ${JSON.stringify(body)}`);
}

/** The answer itself, where operations share it, and its place in the document. */
function resolved(
  { components }: Document,
  named: Described,
  base: string,
): { answer: Described; base: string } {
  const { $ref } = named;
  if ($ref === undefined) return { answer: named, base };
  const { responses: shared } = components as {
    readonly responses: Readonly<Record<string, Described>>;
  };
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

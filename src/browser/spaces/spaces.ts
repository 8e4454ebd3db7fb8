/** The spaces of the caller of a page. */
import type { Space } from '../../protocol/spaces/spaces.js';
import type { Api, WithApi } from '../net/api.js';
import { newId } from '../net/waiting.js';
import type { NewSpace, SpacesPage } from './types.js';

const PATH = '/v1/spaces';

/** The spaces of a client of `colloquy/browser`. */
export function spacesOf(client: WithApi): BrowserSpaces {
  return new BrowserSpaces(client.api);
}

export class BrowserSpaces {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** The spaces of which the caller is a member, newest first. `all`, for admins: all of the tenant. @throws {ApiError} */
  async list(
    options: {
      readonly limit?: number;
      /** `nextCursor` of the page before. */
      readonly cursor?: string;
      readonly all?: true;
    } = {},
  ): Promise<SpacesPage> {
    const query = Object.fromEntries(
      Object.entries(options).map(([name, value]) => [name, String(value)]),
    );
    return await this.#api.read(PATH, { query });
  }

  /** Creates a space with the caller as its first member. @throws {ApiError} */
  async create(space: NewSpace): Promise<Space> {
    return await this.#api.change(PATH, { requestId: newId(), ...space });
  }
}

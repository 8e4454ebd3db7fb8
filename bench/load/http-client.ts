/** Calls the resolution route of the API, or the floor's bare server, over persistent connections, like a backend. */
import { Agent, request } from 'node:http';
import type { BareResolution } from '../floor/api.js';
import type { LoadConfig } from '../shared/cells.js';

export class HttpResolver {
  readonly #apiUrl: string;
  readonly #apiHeaders: Readonly<Record<string, string>>;
  readonly #floorUrl: string;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(urls: Pick<LoadConfig, 'apiUrl' | 'apiHeaders' | 'floorUrl'>) {
    this.#apiUrl = urls.apiUrl;
    this.#apiHeaders = urls.apiHeaders;
    this.#floorUrl = urls.floorUrl;
  }

  /** Returns the verdict. @throws when the reply has none */
  async resolve(conversationId: string, toolCallId: string, resolution: object): Promise<string> {
    const path = `/v1/conversations/${conversationId}/tool-calls/${toolCallId}/resolution`;
    return await this.#verdict(`${this.#apiUrl}${path}`, { resolution });
  }

  /** Returns the verdict of the floor. @throws when the reply has none */
  async resolveBare(resolution: BareResolution): Promise<string> {
    return await this.#verdict(this.#floorUrl, resolution);
  }

  close(): void {
    this.#agent.destroy();
  }

  async #verdict(url: string, body: object): Promise<string> {
    const text = await this.#post(url, JSON.stringify(body));
    const { verdict } = JSON.parse(text) as { readonly verdict?: string };
    if (verdict === undefined) throw new Error(`no verdict: ${text}`);
    return verdict;
  }

  #post(url: string, body: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const headers = {
        ...this.#apiHeaders,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      };
      const sent = request(url, { method: 'POST', agent: this.#agent, headers }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.once('end', () => {
          resolve(text);
        });
        response.once('error', reject);
      });
      sent.once('error', reject);
      sent.end(body);
    });
  }
}

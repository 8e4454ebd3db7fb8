/** The resolution route of the API, over connections that stay open, as a backend would call it. */
import { Agent, request } from 'node:http';

export class HttpDoor {
  readonly #apiUrl: string;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(apiUrl: string) {
    this.#apiUrl = apiUrl;
  }

  /** The verdict. @throws when the reply holds none */
  async resolve(conversationId: string, toolCallId: string, resolution: object): Promise<string> {
    const path = `/v1/conversations/${conversationId}/tool-calls/${toolCallId}/resolution`;
    const text = await this.#post(`${this.#apiUrl}${path}`, JSON.stringify({ resolution }));
    const { verdict } = JSON.parse(text) as { readonly verdict?: string };
    if (verdict === undefined) throw new Error(`no verdict: ${text}`);
    return verdict;
  }

  close(): void {
    this.#agent.destroy();
  }

  #post(url: string, body: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const headers = {
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

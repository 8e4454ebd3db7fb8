/** Requests that wait. Tenants take turns, so that a thousand requests of one hold up no other. */

export interface InLine {
  readonly tenant: string;
}

export class Lines<Waiting extends InLine> {
  /** In the order of the tenants' turns. */
  readonly #byTenant = new Map<string, Waiting[]>();

  get isEmpty(): boolean {
    return this.#byTenant.size === 0;
  }

  lengthOf(tenant: string): number {
    return this.#byTenant.get(tenant)?.length ?? 0;
  }

  /** Requests of the same tenant before this one. */
  ahead(waiting: Waiting): number {
    return this.#byTenant.get(waiting.tenant)?.indexOf(waiting) ?? 0;
  }

  /** The first request of each tenant, in the order of their turns. */
  heads(): readonly Waiting[] {
    return [...this.#byTenant.values()].flatMap(([first]) => (first === undefined ? [] : [first]));
  }

  add(waiting: Waiting): void {
    const line = this.#byTenant.get(waiting.tenant);
    if (line === undefined) this.#byTenant.set(waiting.tenant, [waiting]);
    else line.push(waiting);
  }

  /** The tenant of a request that leaves goes to the end of the turns. */
  remove(waiting: Waiting): void {
    const { tenant } = waiting;
    const line = this.#byTenant.get(tenant);
    if (line === undefined) return;
    const index = line.indexOf(waiting);
    if (index >= 0) line.splice(index, 1);
    this.#byTenant.delete(tenant);
    if (line.length > 0) this.#byTenant.set(tenant, line);
  }
}

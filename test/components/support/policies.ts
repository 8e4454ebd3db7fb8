/** Policies of trusted types, which turn texts into code or markup; TypeScript has no types of them. */
interface TrustedTypes {
  readonly createPolicy: (name: string) => unknown;
}

/** @throws TypeError where the policy of the page refuses the name */
export function createPolicy(name: string): void {
  const { trustedTypes } = globalThis as unknown as { readonly trustedTypes: TrustedTypes };
  trustedTypes.createPolicy(name);
}

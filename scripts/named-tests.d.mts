export interface NamedTest {
  readonly file: string;
  readonly titles: readonly string[];
  readonly rows?: number;
  readonly isTable: boolean;
}
export interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[];
      readonly title: string;
      readonly status: string;
    }[];
  }[];
}
export function parseName(text: string): NamedTest | undefined;
export function faultInSource(source: string, named: NamedTest): string | undefined;
export function faultInReport(
  report: Report,
  named: NamedTest,
  how: { readonly isWhole: boolean },
): string | undefined;

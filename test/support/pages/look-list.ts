/** The looks in which each state of a page is accessible, for tests in the browser and for those that drive one. */
export interface Look {
  readonly colorScheme: 'light' | 'dark';
  /** In pixels of the screen. */
  readonly width: number;
  /** The person has enlarged the page: 2 is 200 %. */
  readonly zoom: number;
}

export const LOOKS: readonly Look[] = [
  { colorScheme: 'light', width: 1_000, zoom: 1 },
  { colorScheme: 'dark', width: 1_000, zoom: 1 },
  { colorScheme: 'light', width: 320, zoom: 1 },
  { colorScheme: 'dark', width: 320, zoom: 1 },
  { colorScheme: 'light', width: 1_000, zoom: 2 },
  { colorScheme: 'dark', width: 1_000, zoom: 2 },
];

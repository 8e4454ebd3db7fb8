/** How people look at a page: each state of the page is accessible in each of them. */
export const LOOKS = [
  { colorScheme: 'light', width: 1_000, zoom: 1 },
  { colorScheme: 'dark', width: 1_000, zoom: 1 },
  { colorScheme: 'light', width: 320, zoom: 1 },
  { colorScheme: 'dark', width: 320, zoom: 1 },
  { colorScheme: 'light', width: 1_000, zoom: 2 },
  { colorScheme: 'dark', width: 1_000, zoom: 2 },
] as const;

/** A bar chart of the arguments of `chart.show`. */
import { svg } from './dom.js';

interface Bar {
  readonly label: string;
  readonly value: number;
}

interface Chart {
  readonly title: string;
  readonly bars: readonly Bar[];
}

const MAX_BARS = 50;
const [BAR_WIDTH, GAP, HEIGHT, LINE] = [60, 12, 120, 18];

/** Undefined when the value is no chart: the arguments come from a model, and an old call may have another form. */
export function chartOf(input: unknown): Chart | undefined {
  const { title, bars } = (input ?? {}) as Partial<Record<keyof Chart, unknown>>;
  if (typeof title !== 'string' || !Array.isArray(bars)) return undefined;
  if (bars.length === 0 || bars.length > MAX_BARS || !bars.every(isBar)) return undefined;
  return { title, bars };
}

function isBar(bar: unknown): bar is Bar {
  const { label, value } = (bar ?? {}) as Partial<Record<keyof Bar, unknown>>;
  return typeof label === 'string' && typeof value === 'number' && value >= 0;
}

export function drawChart({ title, bars }: Chart): SVGElement {
  const highest = Math.max(1, ...bars.map(({ value }) => value));
  const width = bars.length * (BAR_WIDTH + GAP);
  const height = HEIGHT + 2 * LINE;
  const words = bars.map(({ label, value }) => `${label} ${value}`).join(', ');
  const drawing = svg('svg', {
    ...{ role: 'img', 'aria-label': `${title}: ${words}` },
    ...{ viewBox: `0 0 ${width} ${height}`, width, height },
  });
  for (const [index, { label, value }] of bars.entries()) {
    const [x, size] = [index * (BAR_WIDTH + GAP), (value / highest) * HEIGHT];
    const y = HEIGHT - size + LINE;
    drawing.append(
      svg('rect', { class: 'bar', x, y, width: BAR_WIDTH, height: size }),
      svg('text', { x, y: y - 4 }, String(value)),
      svg('text', { x, y: HEIGHT + 2 * LINE - 4 }, label),
    );
  }
  return drawing;
}

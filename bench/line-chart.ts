export interface LineChart {
  readonly title: string;
  readonly xLabel: string;
  readonly x: readonly number[];
  /** Name to values, one for each value of `x`. */
  readonly series: Readonly<Record<string, readonly number[]>>;
}

const WIDTH = 900;
const HEIGHT = 420;
const MARGIN = { left: 70, right: 20, top: 50, bottom: 50 };
const COLOURS = ['#1f6feb', '#d1480f', '#2a8a3e', '#8250df', '#6e7781', '#bf8700'];
const LEGEND_WIDTH = 135;
const TICKS = 5;

/** An SVG drawing; the vertical axis begins at 0. */
export function lineChart({ title, xLabel, x, series }: LineChart): string {
  const xMax = Math.max(1, ...x);
  const yMax = Math.max(1, ...Object.values(series).flat()) * 1.05;
  const place = (xValue: number, yValue: number): readonly [number, number] => [
    MARGIN.left + (xValue / xMax) * (WIDTH - MARGIN.left - MARGIN.right),
    HEIGHT - MARGIN.bottom - (yValue / yMax) * (HEIGHT - MARGIN.top - MARGIN.bottom),
  ];
  const lines = Object.entries(series).flatMap(([name, values], index) => {
    const colour = COLOURS[index % COLOURS.length] ?? '#000';
    const points = values
      .map((value, at) =>
        place(x[at] ?? 0, value)
          .map(Math.round)
          .join(','),
      )
      .join(' ');
    const legend = text(MARGIN.left + index * LEGEND_WIDTH, 42, name, `fill="${colour}"`);
    return [`<polyline fill="none" stroke="${colour}" stroke-width="2" points="${points}"/>`, legend];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="13">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="white"/>`,
    text(MARGIN.left, 22, title, 'font-size="16"'),
    ...axis(yMax, (value) => place(0, value)),
    ...lines,
    text(WIDTH / 2, HEIGHT - 12, `${xLabel}, 0 to ${xMax.toLocaleString('en-US')}`, ''),
    '</svg>\n',
  ].join('\n');
}

function axis(yMax: number, place: (value: number) => readonly [number, number]): readonly string[] {
  return Array.from({ length: TICKS + 1 }, (_, tick) => {
    const value = (yMax * tick) / TICKS;
    const y = Math.round(place(value)[1]);
    const line = `<line x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${y}" y2="${y}" stroke="#ddd"/>`;
    return line + text(MARGIN.left - 8, y + 4, value.toFixed(0), 'text-anchor="end"');
  });
}

function text(x: number, y: number, content: string, attributes: string): string {
  return `<text x="${x}" y="${y}" ${attributes}>${content}</text>`;
}

/** The slope of the line through the points by least squares; NaN for fewer than two different x. */
export function slope(x: readonly number[], y: readonly number[]): number {
  const xMean = mean(x);
  const yMean = mean(y);
  const products = x.map((one, index) => (one - xMean) * ((y[index] ?? 0) - yMean));
  const squares = x.map((one) => (one - xMean) ** 2);
  return sum(products) / sum(squares);
}

function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, one) => total + one, 0);
}

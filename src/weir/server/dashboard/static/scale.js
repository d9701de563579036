// Axes: round steps for values and for times.

export function niceStep(span, most) {
  const rough = span / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  for (const factor of [1, 2, 5, 10]) if (power * factor >= rough) return power * factor;
  return power * 10;
}

// Ticks are counted, not added up: beside a number of thirty digits a step of one is nothing, and a sum of such
// steps would never end.
export function ticks(low, high, most) {
  const step = niceStep(high - low || Math.max(1, Math.abs(high) * 1e-3), most);
  const first = Math.ceil(low / step);
  const found = [];
  for (let i = 0; i <= 4 * most && (first + i) * step <= high + step * 1e-9; i += 1) found.push((first + i) * step);
  return { step, found };
}

const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5,
  36e5, 72e5, 216e5, 432e5, 864e5];

export function timeTicks(low, high, most) {
  const rough = (high - low) / Math.max(1, most);
  const step = STEPS.find((each) => each >= rough) ?? Math.ceil(rough / 864e5) * 864e5;
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high; at += step) found.push(at);
  return { step, found };
}

export function timeLabel(ms, step) {
  if (Math.abs(ms) > 8.64e15) return "";
  const text = new Date(ms).toISOString();
  if (step >= 864e5) return text.slice(5, 10);
  if (step >= 6e4) return text.slice(11, 16);
  return step >= 1000 ? text.slice(11, 19) : text.slice(14, 23);
}

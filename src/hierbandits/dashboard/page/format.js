// Numbers, times and shares as people read them.

export function number(value, digits = 3) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value !== 0 && (Math.abs(value) < 1e-4 || Math.abs(value) >= 1e7)) return Number(value.toPrecision(3)).toExponential();
  return new Intl.NumberFormat("en", { maximumSignificantDigits: digits }).format(value);
}

export function whole(value) {
  return value === null || value === undefined ? "–" : new Intl.NumberFormat("en").format(Math.round(value));
}

export function percent(share) {
  if (share === null || share === undefined || !Number.isFinite(share)) return "–";
  return unbroken(`${number(100 * share)} %`);
}

// A text in which no line ends between a number and its "%".
export function unbroken(text) {
  return text.replace(/(\d) %/g, "$1\u00a0%");
}

export function duration(seconds) {
  const units = [[86400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]];
  const [size, name] = units.find(([size]) => seconds >= size) ?? [1, "second"];
  const value = seconds / size;
  const text = number(value, 2);
  return `${text} ${name}${text === "1" ? "" : "s"}`;
}

export function moment(seconds) {
  return new Date(seconds * 1000).toLocaleString("en-GB", {
    day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit",
  });
}

export function ago(seconds) {
  const age = Math.max(Date.now() / 1000 - seconds, 0);
  return age < 3 ? "just now" : `${duration(age < 60 ? Math.round(age) : age)} ago`;
}

// Where ticks of an axis go, and what they say.
export function ticks(low, high, count = 5) {
  const span = high - low || 1;
  const rough = span / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => span / one <= count) ?? 10 * power;
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * span; i++) {
    const value = i * step;
    found.push({ value, text: number(Math.abs(value) < step * 1e-6 ? 0 : value, 4) });
  }
  return found;
}

const STEPS = [1, 5, 15, 30, 60, 300, 900, 1800, 3600, 10800, 21600, 43200, 86400, 172800, 604800,
  1209600, 2592000, 7776000, 31536000];

export function timeTicks(low, high, count) {
  const step = STEPS.find((one) => (high - low) / one <= count) ?? STEPS.at(-1);
  const zone = new Date(low * 1000).getTimezoneOffset() * 60;
  const found = [];
  for (let t = Math.ceil((low - zone) / step) * step + zone; t <= high; t += step) {
    const date = new Date(t * 1000);
    const text = step >= 86400
      ? date.toLocaleDateString("en-GB", { day: "numeric", month: "short" })
      : date.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", ...(step < 60 && { second: "2-digit" }) });
    found.push({ value: t, text });
  }
  return found;
}

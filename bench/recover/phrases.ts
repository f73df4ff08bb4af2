import type { Random } from './random.ts';

const FIRST = ['Ada', 'Grace', 'Alan', 'Barbara', 'Edsger', 'Margaret', 'Linus', 'Radia', 'Donald', 'Frances'];
const LAST = ['Lovelace', 'Hopper', 'Turing', 'Liskov', 'Dijkstra', 'Hamilton', 'Perlman', 'Knuth', 'Allen', 'Karp'];
const CITIES = ['Lisbon', 'Nairobi', 'Oslo', 'Kyoto', 'Toronto', 'Lima', 'Porto', 'Ghent', 'Cork', 'Dakar'];
const NOUNS = ['lamp', 'kettle', 'desk', 'monitor', 'bicycle', 'backpack', 'camera', 'keyboard', 'tent', 'heater'];
const ADJECTIVES = ['small', 'quiet', 'red', 'wooden', 'folding', 'portable', 'heavy', 'bright', 'cheap', 'sturdy'];
const WORDS = ['garden', 'summer', 'office', 'travel', 'music', 'kitchen', 'outdoor', 'winter', 'gift', 'sport'];
const SENTENCES = [
  'The delivery arrived two days late and the box was damaged.',
  'Customers like the new dashboard, but they ask for dark mode.',
  'We met on Monday to plan the release; nothing was decided.',
  'It rained all week, so the roof could not be repaired.',
  'The second chapter explains how the engine works.',
  'Battery life is excellent: almost three days of normal use.',
  'Please call me back before noon.',
  'The museum opens at nine and closes at six.',
];
const UNICODE = [
  'Zoë Müller',
  '東京タワー',
  'Café São João',
  'Ελλάδα',
  'Привет, мир',
  'naïve façade',
  'Łódź 🚋',
  '안녕하세요',
];
const CODE = [
  'def area(r):\n    return 3.14 * r ** 2',
  'const add = (a, b) => {\n  return a + b;\n};',
  'for (let i = 0; i < items.length; i++) {\n  console.log(items[i]);\n}',
  'SELECT name, price FROM products WHERE price > 10;',
  'if x == {}:\n    print("empty")',
  'fn main() {\n    println!("hello, {}", name);\n}',
];
const MARKDOWN = [
  '# Title\n\nSome *emphasis* and a [link](https://example.com/a?b=1).',
  '## Steps\n\n- first\n- second\n\n> quoted',
  'Use `npm run build`, then:\n\n```sh\nnode dist/main.js\n```\n\nDone.',
  '**Bold** claim[1]\n\n| a | b |\n|---|---|\n| 1 | 2 |',
];
const QUOTED = [
  'She said "hello" and left.',
  'The so-called "expert" was late, "again".',
  'A 27" monitor and a 24" one',
  'It\'s the dog\'s "favourite" toy',
  'Press "OK", then {Enter} [twice]',
];
const POEMS = [
  'The sun goes down,\nthe lights go on,\nthe town is quiet.',
  'First line.\nSecond line: with a colon.\n\nA new paragraph, with commas.',
  'Dear team,\n\nthank you for the work.\n\nBest,\nAda',
];

export function personName(random: Random): string {
  return `${random.pick(FIRST)} ${random.pick(LAST)}`;
}

export function firstName(random: Random): string {
  return random.pick(FIRST);
}

export function lastName(random: Random): string {
  return random.pick(LAST);
}

export function city(random: Random): string {
  return random.pick(CITIES);
}

export function productName(random: Random): string {
  return `${random.pick(ADJECTIVES)} ${random.pick(NOUNS)}`;
}

export function word(random: Random): string {
  return random.pick(WORDS);
}

export function sentence(random: Random): string {
  return random.pick(SENTENCES);
}

export function email(random: Random): string {
  return `${random.pick(FIRST)}.${random.pick(LAST)}@example.com`.toLowerCase();
}

export function phone(random: Random): string {
  return `+49 30 ${random.int(100, 999)} ${random.int(1000, 9999)}`;
}

export function date(random: Random): string {
  return `20${random.int(10, 29)}-${padded(random.int(1, 12))}-${padded(random.int(1, 28))}`;
}

export function time(random: Random): string {
  return `${padded(random.int(0, 23))}:${padded(random.int(0, 59))}`;
}

export function url(random: Random): string {
  return `https://example.com/${random.pick(WORDS)}/${random.int(1, 99)}?ref=${random.pick(NOUNS)}#top`;
}

export function identifier(random: Random): string {
  return `${random.pick(['A', 'K', 'X', 'INV', 'ORD'])}-${random.int(1000, 9999)}`;
}

export function street(random: Random): string {
  return `${random.int(1, 200)} ${random.pick(LAST)} Street`;
}

export function unicode(random: Random): string {
  return random.pick(UNICODE);
}

export function code(random: Random): string {
  return random.pick(CODE);
}

export function markdown(random: Random): string {
  return random.pick(MARKDOWN);
}

export function quoted(random: Random): string {
  return random.pick(QUOTED);
}

export function poem(random: Random): string {
  return random.pick(POEMS);
}

export function intro(random: Random): string {
  return random.pick([
    'Here is the JSON:',
    "Sure! Here's the information you asked for:",
    'Based on the text, this is the result:',
    'Certainly! I have extracted the following:',
    'Answer:',
    'Output:',
    'The requested data is below.',
  ]);
}

export function outro(random: Random): string {
  return random.pick([
    'Let me know if you need anything else!',
    'I hope this helps.',
    'Note: I took all values from the text as it is.',
    'Please review the result before you use it.',
    'If something is missing, I can try again.',
  ]);
}

function padded(value: number): string {
  return String(value).padStart(2, '0');
}

import { group, isComposite, has, type Draw, type Kind } from '../kind.ts';
import type { ScalarTree } from '../reply-tree.ts';

const hasNumbers: Kind['fits'] = (subject) => isComposite(subject) && (has('int')(subject) || has('float')(subject));

/** Numbers in another spelling, inside of JSON. */
export const NUMBERS = group('numbers', {
  'plus sign': numbers((value) => (value > 0 ? `+${value}` : undefined)),
  'no digit before the point': numbers((value) =>
    Math.abs(value) < 1 && value > 0 ? String(value).slice(1) : undefined,
  ),
  'no digit after the point': numbers((value) => (Number.isInteger(value) ? `${value}.` : undefined)),
  'zeros after the point': numbers((value) => (Number.isInteger(value) ? `${value}.0` : `${value}00`)),
  'leading zeros': numbers((value) => (value > 0 ? `00${value}` : undefined)),
  'underscores between thousands': numbers((value) => thousands(value, '_')),
  'commas between thousands, in quotes': numbers((value) => thousands(value, ',', '"')),
  'commas between thousands': numbers((value) => thousands(value, ',')),
  'spaces between thousands': numbers((value) => thousands(value, ' ')),
  exponent: numbers((value, { role }) => (value > 0 && role === 'float' ? `${value / 10}e1` : undefined)),
  'exponent of an int': numbers((value) =>
    Number.isInteger(value) && value > 0 && value % 10 === 0 ? `${value / 10}e1` : undefined,
  ),
  'in quotes': numbers((value) => `"${value}"`),
  'in bold': numbers((value) => `"**${value}**"`),
  'in underscores': numbers((value) => `"__${value}__"`),
  'currency sign': numbers((value, _tree, random) =>
    value > 0 ? random.pick([`$${value}`, `€${value}`, `${value} €`]) : undefined,
  ),
  'currency sign in quotes': numbers((value, _tree, random) =>
    value > 0 ? `"${random.pick([`$${value}`, `£${value}`, `${value} USD`, `${value} €`])}"` : undefined,
  ),
  unit: numbers((value, _tree, random) => `${value} ${random.pick(['kg', 'meters', 'years', 'pages'])}`),
  'unit without a space': numbers((value, _tree, random) => `${value}${random.pick(['kg', 'cm', 'px'])}`),
  'unit in quotes': numbers((value, _tree, random) => `"${value} ${random.pick(['kg', 'meters', 'years', 'pages'])}"`),
  'percent sign': { ...numbers((value) => (value > 0 ? `${value}%` : undefined)), clear: false },
  tilde: numbers((value) => (value > 0 ? `~${value}` : undefined)),
  about: numbers((value, _tree, random) => `"${random.pick(['about', 'approx.', 'approximately'])} ${value}"`),
  'minus sign of typography': numbers((value) => (value < 0 ? `−${-value}` : undefined)),
  'European decimal comma in quotes': numbers((value) =>
    Number.isInteger(value) ? undefined : `"${String(value).replace('.', ',')}"`,
  ),
  'apostrophes between thousands': numbers((value) => thousands(value, "'")),
  bold: numbers((value) => `**${value}**`),
  'ordinal in quotes': numbers((value) =>
    Number.isInteger(value) && value > 3 && value < 21 ? `"${value}th"` : undefined,
  ),
  'currency code': numbers((value) => (value > 0 ? `"USD ${value}"` : undefined)),
  cast: numbers((value, { role }) => `${role}(${value})`),
  fraction: { ...numbers((value, { role }) => (role === 'float' ? `"${value * 100}/100"` : undefined)), clear: false },
  'list of one': numbers((value) => `[${value}]`),
});

/** Writes one number in another way; numbers that can also be strings by their type are left alone. */
function numbers(
  spell: (value: number, tree: ScalarTree, random: Draw['random']) => string | undefined,
): Pick<Kind, 'fits' | 'damage'> {
  return {
    fits: hasNumbers,
    damage: (draw) => {
      const spelled = (tree: ScalarTree): string | undefined =>
        typeof tree.value === 'number' && !tree.shared ? spell(tree.value, tree, draw.random) : undefined;
      const spot = draw.spot(({ tree, index }) => index > 0 && tree.kind === 'scalar' && spelled(tree) !== undefined);
      if (spot === undefined || spot.tree.kind !== 'scalar') return undefined;
      const text = spelled(spot.tree);
      return text === undefined
        ? undefined
        : draw.replaceSpot(spot, text, draw.random.chance(0.7) ? { indent: 2 } : {});
    },
  };
}

function thousands(value: number, separator: string, quote = ''): string | undefined {
  if (Math.abs(value) < 1000) return undefined;
  return quote + value.toLocaleString('en-US').replaceAll(',', separator) + quote;
}

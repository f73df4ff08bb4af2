/** Templates that would run forever or fill the memory: a description of each one, and its text. */
export const RUNAWAY_TEMPLATES: readonly (readonly [string, string])[] = [
  ['nested loops', '{% for a in range(100000) %}{% for b in range(100000) %}x{% endfor %}{% endfor %}'],
  ['loops that print', '{% for a in range(100000) %}{% for b in range(100000) %}{{ s }}{% endfor %}{% endfor %}'],
  [
    'doubling',
    '{% set ns = namespace(x=s) %}{% for a in range(1000) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}{{ ns.x }}',
  ],
  ['doubling lists', '{% set ns = namespace(x=[1]) %}{% for a in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}'],
  ['a macro that calls itself', '{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(s) }}'],
  ['a macro that calls itself twice', '{% macro f(x) %}{{ f(x) }}{{ f(x) }}{% endmacro %}{{ f(s) }}'],
  [
    'two macros that call each other',
    '{% macro f() %}{{ g() }}{% endmacro %}{% macro g() %}{{ f() }}{% endmacro %}{{ f() }}',
  ],
  ['a template_string that calls itself', '{{ Again(s) }}'],
  ['a repeated text', '{{ s * 1000000000 }}'],
  ['a repeated list', '{{ [s] * 1000000000 }}'],
  ['a large range', '{{ range(1000000000) }}'],
  ['replacing by something long', '{{ ("a" * 100000)|replace("a", "b" * 100000) }}'],
  ['joining by something long', '{{ range(100000)|join("b" * 100000) }}'],
  ['indenting', '{{ ("a\n" * 100000)|indent(10000) }}'],
  [
    'filters on a long text in a loop',
    '{% set x = "a" * 1000000 %}{% for a in range(100000) %}{{ x|upper|length }}{% endfor %}',
  ],
  [
    'methods on a long text in a loop',
    '{% set x = "a" * 1000000 %}{% for a in range(100000) %}{{ x.find("b") }}{% endfor %}',
  ],
  [
    'looking into a long list in a loop',
    '{% set x = range(100000) %}{% for a in range(100000) %}{{ -1 in x }}{% endfor %}',
  ],
  [
    'comparing long lists in a loop',
    '{% set x = range(100000) %}{% set y = range(100000) %}{% for a in range(100000) %}{{ x == y }}{% endfor %}',
  ],
  ['sorting in a loop', '{% for a in range(100000) %}{{ range(100000)|sort|first }}{% endfor %}'],
  ['sorting by a test', '{% for a in range(100000) %}{{ range(100000)|select("odd")|list|length }}{% endfor %}'],
  ['ranges in a loop', '{% for a in range(100000) %}{% set x = range(100000) %}{% endfor %}'],
  ['slices in a loop', '{% set x = range(100000) %}{% for a in range(100000) %}{% set y = x[1:] %}{% endfor %}'],
  ['a hostile regular expression', '{{ ("a" * 1000000)|regex_match("(a|a|aa)*b") }}'],
  ['a counted regular expression', '{{ ("a" * 100000)|regex_match("(a?){900}b") }}'],
  ['a recursive loop over itself', '{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}'],
  [
    'a list twice in itself',
    '{% set ns = namespace(x=[s]) %}{% for a in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}',
  ],
  [
    'a list twice in itself as JSON',
    '{% set ns = namespace(x=[s]) %}{% for a in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x|tojson }}',
  ],
  [
    'a list twice in itself compared',
    '{% set n = namespace(x=[s], y=[s]) %}{% for a in range(60) %}{% set n.x = [n.x, n.x] %}{% set n.y = [n.y, n.y] %}{% endfor %}{{ n.x == n.y }}',
  ],
];

/** The definition of a function `Bomb` with a parameter `s`, whose prompt is this template. */
export function runawayFunction(prompt: string): string {
  return `${HEAD}  prompt ####"${prompt}"####\n}\n`;
}

const HEAD =
  'template_string Again(x: string) #"{{ Again(x) }}"#\n\nfunction Bomb(s: string) -> string {\n  client "openai/m1"\n';

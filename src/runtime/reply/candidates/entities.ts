/** The entities of HTML that models write in the place of ASCII characters, quotes and spaces. */
const ENTITIES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    quot: '"',
    ldquo: '“',
    rdquo: '”',
    apos: "'",
    lsquo: '‘',
    rsquo: '’',
    amp: '&',
    lt: '<',
    gt: '>',
    nbsp: ' ',
    lbrace: '{',
    lcub: '{',
    rbrace: '}',
    rcub: '}',
    lbrack: '[',
    lsqb: '[',
    rbrack: ']',
    rsqb: ']',
    comma: ',',
    colon: ':',
    semi: ';',
    equals: '=',
    hellip: '…',
    mdash: '—',
    ndash: '–',
    bull: '•',
    middot: '·',
    rarr: '→',
    deg: '°',
    euro: '€',
    copy: '©',
    eacute: 'é',
    uuml: 'ü',
    ouml: 'ö',
    auml: 'ä',
    szlig: 'ß',
  }),
);

const ENTITY = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/giu;
const LAST_CODE = 0x10ffff;

/** Replaces the entities of HTML and XML in a text; unknown ones stay. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replaceAll(ENTITY, (entity: string, decimal?: string, hex?: string, name = '') => {
    if (decimal === undefined && hex === undefined)
      return ENTITIES.get(name) ?? ENTITIES.get(name.toLowerCase()) ?? entity;
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number.parseInt(decimal, 10);
    return code === 0 || code > LAST_CODE ? entity : String.fromCodePoint(code);
  });
}

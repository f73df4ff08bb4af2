/** A typical definition file: about 1 KB with comments, a function and its types. Names end in `index`. */
export function definitionFile(index: number): string {
  return TYPES.concat(CLIENT, FUNCTION, TEST).replaceAll('NUMBER', String(index));
}

const TYPES = `/// A person, as far as the text states.
class PersonNUMBER {
  name string @description("full name")
  age int? @alias("years") @check(grown, {{ this is none or this < 130 }})
  mood MoodNUMBER
  addresses AddressNUMBER[]
  tags map<string, string>
}

class AddressNUMBER {
  street string
  city string
  country "DE" | "FR" | "US"
}

enum MoodNUMBER {
  HAPPY @description("glad")
  SAD
  ANGRY @alias("mad") // the usual word
}

type NamesNUMBER = string[] | PersonNUMBER
`;

const CLIENT = `
client<llm> ClientNUMBER {
  provider openai
  options {
    model "gpt-4o-mini"
    api_key env.OPENAI_API_KEY
    temperature 0
  }
}
`;

const FUNCTION = `
function ExtractNUMBER(text: string, previous: PersonNUMBER?, others: AddressNUMBER[]) -> PersonNUMBER {
  client ClientNUMBER
  prompt #"
    {{ _.role("system") }}
    Extract the person.
    {{ ctx.output_format }}
    {{ _.role("user") }}
    {{ text }}
    {% if previous %}Before: {{ previous.name }}{% endif %}
    {% for other in others %}{{ other.city | upper }}{% endfor %}
  "#
}
`;

const TEST = `
test ExtractsNUMBER {
  functions [ExtractNUMBER]
  args {
    text "Ada lives in London."
    previous null
    others []
  }
}
`;

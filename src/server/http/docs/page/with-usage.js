const OPTIONS_KEYS = ['svc_options', '__svc_options__', '__baml_options__'];
const INCLUDE = '"include":["usage","client","attempts"]';

/**
 * The body of a request for a stream that asks for its client, attempts and tokens: the headers of a stream come first.
 * Inserts into the text instead of writing it again, so that numbers stay as the user wrote them. A body that decides itself what
 * to include, or that is no object, stays as it is.
 */
export function withUsage(text) {
  const body = objectIn(text);
  if (body === undefined) return text;
  const key = OPTIONS_KEYS.find((name) => Object.hasOwn(body, name));
  if (key === undefined) return inserted(text, text.indexOf('{') + 1, [`"svc_options":{${INCLUDE}}`, body]);
  const options = body[key];
  if (!isObject(options) || Object.hasOwn(options, 'include')) return text;
  const found = new RegExp(`"${key}"\\s*:\\s*\\{`, 'u').exec(text);
  if (found === null) return text;
  const changed = inserted(text, found.index + found[0].length, [INCLUDE, options]);
  // The same name can occur deeper in the arguments, before the options.
  return objectIn(changed)?.[key].include === undefined ? text : changed;
}

/** Inserts a member at the beginning of an object. */
function inserted(text, at, [member, object]) {
  const comma = Object.keys(object).length === 0 ? '' : ',';
  return `${text.slice(0, at)}${member}${comma}${text.slice(at)}`;
}

/** The object that a text of JSON contains; undefined if it contains anything else. */
function objectIn(text) {
  try {
    const value = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

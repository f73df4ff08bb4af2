/** A shorter value is no credential, and taking it out of every line would make the log unreadable. */
const MIN_SECRET_LENGTH = 6;

const SECRET_NAME = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|PRIVATE|AUTH|COOKIE|_PAT$|_DSN$|WEBHOOK/iu;

/** Names that match, but hold paths and switches rather than credentials. */
const NO_SECRET_NAME = /_(?:FILE|PATH|DIR|URL|URI|TYPE|MODE|ENABLED|ID|SOCK|HOST|PORT)$/iu;

/** `postgres://user:password@host` and the like: the password in a URL. */
const URL_PASSWORD = /^[a-z][a-z0-9+.-]*:\/\/[^/\s:@]*:([^/\s@]+)@/iu;

/** Values of the environment that no log line may contain, longest first so that none hides inside another. */
export function secretsOf(env: Readonly<Record<string, string>>): readonly string[] {
  const found = new Set<string>();
  for (const [name, value] of Object.entries(env)) {
    const password = URL_PASSWORD.exec(value)?.[1];
    if (password !== undefined) addSecret(found, password);
    if (SECRET_NAME.test(name) && !NO_SECRET_NAME.test(name)) addSecret(found, value);
  }
  return [...found].toSorted((a, b) => b.length - a.length);
}

/** A credential of several lines (a private key, service-account JSON) leaks line by line as well. */
function addSecret(found: Set<string>, value: string): void {
  for (const line of [value, ...value.split(/[\r\n]+/u)]) {
    const text = line.trim();
    if (text.length >= MIN_SECRET_LENGTH && !isPlainWord(text)) found.add(text);
  }
}

/** `enabled`, `disabled`, `{` and number-like values under names such as `AUTH_MODE_2` are no credentials. */
function isPlainWord(text: string): boolean {
  return /^(?:enabled|disabled|required|optional|default|production|development|-----[A-Z ]+-----)$/iu.test(text);
}

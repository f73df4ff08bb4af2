import { err, ok, type Result } from '../base/result.ts';

/** Where kept calls are. */
export type CallsAddress =
  /** A file. */
  | { readonly kind: 'sqlite'; readonly path: string }
  /** `url` can contain a password. */
  | { readonly kind: 'postgres'; readonly url: string };

const ALLOWED =
  'off, sqlite:PATH, such as sqlite:.svc/calls.db, or a URL such as postgres://user:password@host:5432/database';

const SQLITE = 'sqlite:';

/** `off`: no calls are kept. `svc dev` keeps them by default. The failure never contains a part of the text, because a URL contains credentials. */
export function callsAddress(text: string): Result<CallsAddress | 'off', string> {
  if (text === 'off') return ok(text);
  if (text.startsWith(SQLITE)) {
    const path = text.slice(SQLITE.length);
    return path.trim() === '' || path.includes('\0') ? err(ALLOWED) : ok({ kind: 'sqlite', path });
  }
  if (!/^postgres(?:ql)?:\/\/./u.test(text) || !URL.canParse(text)) return err(ALLOWED);
  return ok({ kind: 'postgres', url: text });
}

/** The credentials of the URL: no log line may contain them. */
export function callsSecrets(address: CallsAddress | 'off'): readonly string[] {
  if (address === 'off' || address.kind !== 'postgres') return [];
  const { password } = new URL(address.url);
  return password === '' ? [] : [password, decodeURIComponent(password)];
}

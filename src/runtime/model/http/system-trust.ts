import { createSecureContext, rootCertificates } from 'node:tls';
import type { SecureContext } from 'node:tls';
import { readSystemCertificates } from './system-certificates.ts';

/** What OpenSSL says of a certificate that leads to no authority it knows (X509_STORE_CTX_get_error(3)). */
const UNTRUSTED = new Set([
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
]);

/** True when a connection failed because nobody it trusts vouches for the other side. */
export function isUntrusted(error: Error): boolean {
  return 'code' in error && typeof error.code === 'string' && UNTRUSTED.has(error.code);
}

/**
 * The authorities of Node and of the system together, for connections that need more than Node's own. Made when the
 * first of them fails without it: it costs 30 ms and 2 MB in each process, and public services never need it.
 */
export class SystemTrust {
  readonly #env: Readonly<Record<string, string | undefined>>;
  #context: SecureContext | undefined;
  #made = false;

  /** `env` holds the variables that name files of certificates. */
  constructor(env: Readonly<Record<string, string | undefined>>) {
    this.#env = env;
  }

  /** Some connection needed it. */
  get wasNeeded(): boolean {
    return this.#made;
  }

  /** Undefined when the system adds nothing to what Node trusts. */
  context(): SecureContext | undefined {
    if (!this.#made) this.#context = this.#make();
    this.#made = true;
    return this.#context;
  }

  #make(): SecureContext | undefined {
    // Who starts Node with its flag chose the system's authorities in place of Node's: they are in use already.
    if (process.execArgv.includes(ONLY_SYSTEM) || this.#env['NODE_OPTIONS']?.includes(ONLY_SYSTEM) === true) {
      return undefined;
    }
    const known = new Set(rootCertificates.map(withoutLines));
    const added = readSystemCertificates(this.#env).filter((certificate) => !known.has(withoutLines(certificate)));
    return added.length === 0 ? undefined : createContext(added);
  }
}

const ONLY_SYSTEM = '--use-openssl-ca';

function createContext(added: readonly string[]): SecureContext {
  try {
    return createSecureContext({ ca: [...rootCertificates, ...added] });
  } catch {
    // One that cannot be parsed makes all of them unusable; parsing each one apart takes twice as long.
    return createSecureContext({ ca: [...rootCertificates, ...added.filter(isCertificate)] });
  }
}

function isCertificate(text: string): boolean {
  try {
    createSecureContext({ ca: text });
    return true;
  } catch {
    return false;
  }
}

/** Files break lines differently; the certificate is the same. */
function withoutLines(certificate: string): string {
  return certificate.replaceAll(/\s/gu, '');
}

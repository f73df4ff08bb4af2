import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as tls from 'node:tls';
import type { SecureContext } from 'node:tls';
import { codeOf } from '../../../base/invariant.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** OpenSSL's codes for a certificate that leads to no authority it knows (X509_STORE_CTX_get_error(3)). */
const UNTRUSTED = new Set([
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
]);

/** True if a connection failed because no trusted authority signed the other side's certificate. */
export function isUntrusted(error: Error): boolean {
  return UNTRUSTED.has(codeOf(error) ?? '');
}

/**
 * The authorities of Node and of the system together, for connections that need more than Node's own. Created when the
 * first connection fails without it: it costs 30 ms and 2 MB in each process, and public services never need it.
 */
export class SystemTrust {
  readonly #env: Variables;
  #context: SecureContext | undefined;
  #made = false;

  /** `env`: the variables that name certificate files. */
  constructor(env: Variables) {
    this.#env = env;
  }

  /** A connection has needed it. */
  get wasNeeded(): boolean {
    return this.#made;
  }

  /** Undefined if the system adds nothing to Node's authorities. */
  context(): SecureContext | undefined {
    if (!this.#made) this.#context = this.#make();
    this.#made = true;
    return this.#context;
  }

  #make(): SecureContext | undefined {
    // This flag of Node replaces its own authorities by the system's: they are already in use.
    if (process.execArgv.includes(ONLY_SYSTEM) || this.#env['NODE_OPTIONS']?.includes(ONLY_SYSTEM) === true) {
      return undefined;
    }
    const known = new Set(tls.rootCertificates.map(withoutLines));
    const added = readSystemCertificates(this.#env).filter((certificate) => !known.has(withoutLines(certificate)));
    return added.length === 0 ? undefined : createContext(added);
  }
}

const ONLY_SYSTEM = '--use-openssl-ca';

function createContext(added: readonly string[]): SecureContext {
  try {
    return tls.createSecureContext({ ca: [...tls.rootCertificates, ...added] });
  } catch {
    // One that cannot be parsed makes all of them unusable; parsing each one separately takes twice as long.
    return tls.createSecureContext({ ca: [...tls.rootCertificates, ...added.filter(isCertificate)] });
  }
}

function isCertificate(text: string): boolean {
  try {
    tls.createSecureContext({ ca: text });
    return true;
  } catch {
    return false;
  }
}

/** Files wrap the same certificate differently. */
function withoutLines(certificate: string): string {
  return certificate.replaceAll(/\s/gu, '');
}

/** Adds advice to "unable to verify the first certificate", which does not state what to do. */
export function explainUntrusted(error: Error): void {
  if (isUntrusted(error)) error.message += ADVICE;
}

const ADVICE =
  '. Neither Node nor this system trusts the authority of its certificate: name its file in NODE_EXTRA_CA_CERTS or SSL_CERT_FILE';

/** Files in which systems keep the certificates of trusted authorities; the first one that contains any is used. */
const BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt', // Debian, Ubuntu, Arch, Alpine
  '/etc/pki/tls/certs/ca-bundle.crt', // Fedora, RHEL
  '/etc/ssl/ca-bundle.pem', // openSUSE
  '/etc/ssl/cert.pem', // BSD, macOS
];

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/gu;

/**
 * Certificates of the authorities that the system trusts, as PEM: those of `SSL_CERT_FILE` (or the system's own bundle)
 * and of every file in the directories of `SSL_CERT_DIR`, as OpenSSL reads them, and those of `NODE_EXTRA_CA_CERTS`.
 * Unreadable files are skipped. Windows has no such files; there Node 22.15 and later reports the system's authorities.
 */
export function readSystemCertificates(env: Variables): readonly string[] {
  const extra = env['NODE_EXTRA_CA_CERTS'] ?? '';
  const folders = (env['SSL_CERT_DIR'] ?? '').split(':').filter((folder) => folder !== '');
  const found = [
    ...systemBundle(env['SSL_CERT_FILE'] ?? ''),
    ...folders.flatMap((folder) => namesIn(folder).flatMap((name) => certificatesIn(join(folder, name)))),
    ...(extra === '' ? [] : certificatesIn(extra)),
  ];
  return [...new Set(found)];
}

function systemBundle(named: string): readonly string[] {
  if (named !== '') return certificatesIn(named);
  for (const file of BUNDLES) {
    const found = certificatesIn(file);
    if (found.length > 0) return found;
  }
  return certificatesOfNode();
}

function certificatesIn(file: string): readonly string[] {
  try {
    return readFileSync(file, 'latin1').match(CERTIFICATE) ?? [];
  } catch {
    return [];
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** `tls.getCACertificates('system')`, which the oldest supported Node lacks. */
function certificatesOfNode(): readonly string[] {
  if (!('getCACertificates' in tls) || typeof tls.getCACertificates !== 'function') return [];
  const found: unknown = tls.getCACertificates('system');
  return Array.isArray(found) ? found.filter((each) => typeof each === 'string') : [];
}

import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as tls from 'node:tls';

type Variables = Readonly<Record<string, string | undefined>>;

/** Where systems keep the certificates of the authorities they trust; the first one that holds any is taken. */
const BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt', // Debian, Ubuntu, Arch, Alpine
  '/etc/pki/tls/certs/ca-bundle.crt', // Fedora, RHEL
  '/etc/ssl/ca-bundle.pem', // openSUSE
  '/etc/ssl/cert.pem', // BSD, macOS
];

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/gu;

/**
 * Certificates of the authorities that the system trusts, as PEM texts: those of `SSL_CERT_FILE` (or the system's own
 * bundle) and of every file in the directories of `SSL_CERT_DIR`, as OpenSSL reads them, and those of
 * `NODE_EXTRA_CA_CERTS`. What cannot be read adds nothing. Windows keeps no such files: there Node tells what the
 * system trusts, from 22.15 on.
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

/** `tls.getCACertificates('system')`, which the oldest supported Node does not have. */
function certificatesOfNode(): readonly string[] {
  if (!('getCACertificates' in tls) || typeof tls.getCACertificates !== 'function') return [];
  const found: unknown = tls.getCACertificates('system');
  return Array.isArray(found) ? found.filter((each) => typeof each === 'string') : [];
}

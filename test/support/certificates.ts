import { readFileSync } from 'node:fs';

/** The authority that signed the certificate of test servers, as a file: for `SSL_CERT_FILE`. */
export const AUTHORITY_FILE = certificatePath('authority.pem');

/**
 * `localhost` names hosts of loopback (`localhost`, `model.example`, 127.0.0.1), and `elsewhere` another host. `self-signed`
 * names loopback without an authority.
 */
export type CertificateName = 'localhost' | 'expired' | 'elsewhere' | 'self-signed';

/** A certificate of test servers and its key. */
export function credentials(name: CertificateName = 'localhost'): { readonly cert: string; readonly key: string } {
  return { cert: certificate(`${name}.pem`), key: certificate('localhost-key.pem') };
}

function certificate(name: string): string {
  return readFileSync(certificatePath(name), 'utf8');
}

function certificatePath(name: string): string {
  return new URL(`../runtime/model/certificates/${name}`, import.meta.url).pathname;
}

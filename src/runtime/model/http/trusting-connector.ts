import type { SecureContext } from 'node:tls';
import type { buildConnector } from 'undici';
import { isUntrusted } from './system-trust.ts';
import type { SystemTrust } from './system-trust.ts';

/** Makes a connector; without a context it trusts what Node trusts. */
type Build = (tls: { readonly secureContext?: SecureContext }) => buildConnector.connector;

/**
 * A connector that trusts Node's authorities, and where they do not vouch for a host, those of the system as well: it
 * then connects once more. After that every connection begins with both.
 */
export function trustingConnector(build: Build, trust: SystemTrust): buildConnector.connector {
  const plain = build({});
  let widened: buildConnector.connector | undefined;
  const connectWidened: buildConnector.connector = (target, callback) => {
    const secureContext = trust.context();
    widened ??= secureContext === undefined ? plain : build({ secureContext });
    widened(target, explained(callback));
  };
  return (target, callback) => {
    if (trust.wasNeeded && target.protocol === 'https:') {
      connectWidened(target, callback);
      return;
    }
    plain(target, (...result) => {
      if (result[0] === null || !isUntrusted(result[0])) callback(...result);
      else connectWidened(target, callback);
    });
  };
}

/** "unable to verify the first certificate" helps nobody who does not know what to do about it. */
function explained(callback: buildConnector.Callback): buildConnector.Callback {
  return (...result) => {
    const [error] = result;
    if (error !== null && isUntrusted(error)) error.message += ADVICE;
    callback(...result);
  };
}

const ADVICE =
  '. Neither Node nor this system trusts the authority of its certificate: name its file in NODE_EXTRA_CA_CERTS or SSL_CERT_FILE';

import { readFileSync } from 'node:fs';

/** A cloud that gives its machines an account of their own. */
export type CloudMachine = 'amazon' | 'google';

/** The vendor of the machine according to its firmware; Linux shows it to every user, in containers too. */
const VENDOR_FILE = '/sys/class/dmi/id/sys_vendor';

/**
 * The cloud on whose machine svc runs. Elsewhere, asking for a service that only those machines have would cost every
 * call a timeout.
 */
export function cloudMachine(vendorFile: string = VENDOR_FILE): CloudMachine | undefined {
  const vendor = readVendor(vendorFile);
  if (vendor.startsWith('Amazon')) return 'amazon';
  return vendor.startsWith('Google') ? 'google' : undefined;
}

function readVendor(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

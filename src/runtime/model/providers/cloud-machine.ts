import { readFileSync } from 'node:fs';

/** Whose machine this is, where the provider gives its machines an account of their own. */
export type CloudMachine = 'amazon' | 'google';

/** The maker of the machine as its firmware tells it; Linux shows it to everybody, in containers too. */
const VENDOR_FILE = '/sys/class/dmi/id/sys_vendor';

/**
 * Amazon's and Google's machines say what they are, so that a service which only they have need not be asked for in
 * vain: elsewhere that would cost every call a timeout.
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

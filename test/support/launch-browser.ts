import { chromium, type Browser } from 'playwright-core';

/** Starts Chromium from the variable CHROMIUM, or from its usual path on Linux. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  });
}

/* What all checks of pages share: a headless Chromium with software rendering, and a count of what holds. */
import { chromium } from 'playwright-core';

export const LOADING = 90000; /* milliseconds; software rendering on a busy machine is slow */

export const launch = () =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'],
  });

/** @param {string} name of the check, before its messages */
export function counter(name) {
  const count = { passed: 0, failed: 0 };
  return {
    count,
    check(what, good, detail = '') {
      if (good) count.passed++;
      else {
        count.failed++;
        console.error(`${name}: FAILED: ${what} ${detail}`);
      }
    },
    /** Ends the program. @param {string} [more] */
    end(more = '') {
      console.log(`${name}: ${count.passed} passed, ${count.failed} failed${more}`);
      process.exit(count.failed ? 1 : 0);
    },
  };
}

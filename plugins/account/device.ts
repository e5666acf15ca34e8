/** The usual names of a browser and a system. They are constants of this file, never text that a stranger has sent. */
export interface DeviceName {
  readonly browser?: string | undefined
  readonly system?: string | undefined
}

// The first match counts: most browsers also name others.
const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:e|A|iOS)?\//u, 'Edge'],
  [/\bOPR\//u, 'Opera'],
  [/\bSamsungBrowser\//u, 'Samsung Internet'],
  [/\bVivaldi\//u, 'Vivaldi'],
  [/\b(?:Firefox|FxiOS)\//u, 'Firefox'],
  [/\b(?:Chrome|CriOS)\//u, 'Chrome'],
  [/\bVersion\/.* Safari\//u, 'Safari'],
  [/\bcurl\//u, 'curl'],
]

const systems: readonly (readonly [RegExp, string])[] = [
  [/\bWindows\b/u, 'Windows'],
  [/\biPhone\b/u, 'iPhone'],
  [/\biPad\b/u, 'iPad'],
  [/\bAndroid\b/u, 'Android'],
  [/\bCrOS\b/u, 'ChromeOS'],
  [/\bMac OS X\b/u, 'macOS'],
  [/\bLinux\b/u, 'Linux'],
]

const nameIn = (names: readonly (readonly [RegExp, string])[], text: string): string | undefined =>
  names.find(([form]) => form.test(text))?.[1]

/** Returns the names of the browser and the system that a `User-Agent` claims. */
export const deviceName = (userAgent = ''): DeviceName => ({
  browser: nameIn(browsers, userAgent),
  system: nameIn(systems, userAgent),
})

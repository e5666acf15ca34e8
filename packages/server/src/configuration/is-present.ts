import { statSync } from 'node:fs'

/**
 * Whether there is a file. `existsSync` says no also where this user may not look.
 *
 * @throws TypeError with one sentence when it cannot be known.
 */
export function isPresent(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined
  } catch (cause) {
    const { code } = cause as { readonly code?: string }
    throw new TypeError(`${file} cannot be read (${code}); let this user read it`, { cause })
  }
}

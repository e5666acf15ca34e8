import { statSync } from 'node:fs'

/**
 * Whether a file exists. Unlike `existsSync`, it does not report a file as missing if the user lacks access.
 *
 * @throws TypeError with a one-line message if the user lacks access.
 */
export function isPresent(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined
  } catch (cause) {
    const { code } = cause as { readonly code?: string }
    throw new TypeError(`cannot read ${file} (${code}); grant this user read access`, { cause })
  }
}

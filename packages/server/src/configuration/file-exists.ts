import { statSync } from 'node:fs'
import { fileErrorReason } from '../error-message.ts'

/**
 * Whether a file exists. Unlike `existsSync`, it does not report a file as missing if the user lacks access.
 *
 * @throws TypeError with a one-line message if the user lacks access.
 */
export function fileExists(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined
  } catch (cause) {
    throw new TypeError(`cannot read ${file} (${fileErrorReason(cause)}); grant this user read access`, { cause })
  }
}

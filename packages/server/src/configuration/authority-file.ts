import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fileErrorReason } from '../error-message.ts'

/**
 * Reads the certificates of an authority.
 *
 * @param member the path of the setting, for errors
 * @throws TypeError when the file cannot be read or has no certificate.
 */
export async function readAuthority(file: string, directory: string, member: string): Promise<string> {
  const path = resolve(directory, file)
  const ca = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new TypeError(`${member}: cannot read ${path} (${fileErrorReason(cause)})`, { cause })
  })
  // With an empty file, Node.js trusts the public authorities.
  if (!ca.includes('-----BEGIN CERTIFICATE-----')) {
    throw new TypeError(`${member}: ${path} contains no certificate in PEM; give the file of the authority`)
  }
  return ca
}

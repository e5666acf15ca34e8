import { missingPackage } from '../shared/missing-package.ts'

/**
 * Loads the library on demand: it is large, and a server starts without it.
 *
 * @throws Error that names the package, if it is not installed
 */
export async function loadWebAuthn(): Promise<typeof import('@simplewebauthn/server')> {
  try {
    return await import('@simplewebauthn/server')
  } catch (cause) {
    throw missingPackage('@simplewebauthn/server', 'A passkey', cause)
  }
}

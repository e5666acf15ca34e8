import type { Kit } from '@grantry/core'

/** base64url characters of the part that names the issuer: 15 bytes, so that both parts are whole. */
const issuerLength = 20

const issuerPart = ({ issuer, sha256 }: Pick<Kit, 'issuer' | 'sha256'>): string =>
  sha256(`passkeys of ${issuer}`).slice(0, issuerLength)

/**
 * Returns the user handle of passkeys (base64url). Devices have one passkey for a domain and a handle, and issuers of one
 * domain, such as tenants, have users with the same `sub`: the handle differs by the issuer. It does not identify the user
 * to others.
 *
 * @see WebAuthn Level 3 section 5.4.3: at most 64 bytes
 */
export const passkeyUserId = (sub: string, kit: Pick<Kit, 'issuer' | 'sha256'>): string =>
  issuerPart(kit) + kit.sha256(`passkey user ${JSON.stringify([kit.issuer, sub])}`)

/** Whether a passkey was created for a user of this issuer, and not of another one with the same domain. */
export const isPasskeyOfIssuer = (userHandle: string | undefined, kit: Pick<Kit, 'issuer' | 'sha256'>): boolean =>
  userHandle?.startsWith(issuerPart(kit)) === true

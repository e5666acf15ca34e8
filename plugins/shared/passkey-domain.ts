/**
 * Returns the domain of passkeys: `rpId`, or the host of the issuer; `undefined` if it is an IP address. WebAuthn allows
 * domains only, so browsers refuse every passkey of an address, and pages offer none.
 *
 * @see WebAuthn Level 3, section 5.1.3, step 7: the effective domain of the caller must be a valid domain
 */
export function passkeyDomain(rpId: string | undefined, issuer: string): string | undefined {
  const domain = rpId ?? new URL(issuer).hostname
  return /^(?:\[.*\]|[\d.]+)$/u.test(domain) ? undefined : domain
}

import type { GrantResult } from '@grantry/core'
import type { Findings } from './findings.ts'

/**
 * The members that the kit authorizes besides the subject and the scopes, so that it notices those that a grant loses.
 */
export const authorizedByKit = {
  claims: { authorized_by: 'the-kit' },
  identityClaims: { sid: 'session-of-the-kit' },
  requestedClaims: { userinfo: ['name'], identityToken: ['email'] },
  nonce: 'nonce-of-the-kit',
} as const

/** Whether a value contains everything of another one. An array may have more items, and an object more members. */
function includes(value: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) return Array.isArray(value) && wanted.every((item) => value.includes(item))
  if (typeof wanted !== 'object' || wanted === null) return value === wanted
  const members: Readonly<Record<string, unknown>> = Object(value)
  return Object.entries(wanted).every(([name, member]) => includes(members[name], member))
}

/**
 * Checks that a grant that redeems a stored grant of the kit sets no member of its result to less than was authorized.
 * The core takes omitted members from the stored grant.
 */
export function checkAuthorization(findings: Findings, part: string, result: GrantResult | undefined): void {
  const { redeems = [], continues } = result ?? {}
  // The grant could also redeem a credential of its own, or none.
  if (![...redeems, continues].some((redeemed) => 'clientId' in Object(redeemed))) return
  for (const [name, wanted] of Object.entries(authorizedByKit)) {
    const set = result?.[name as keyof typeof authorizedByKit]
    if (set !== undefined && !includes(set, wanted)) {
      findings.add('authorization', part, `its result sets ${name} to something else; omit it`)
    }
  }
}

import type { Client, EndpointKit } from '@grantry/core'
import type { Account } from './account-store.ts'

/**
 * Remembers the address of the owner of an account, who has proved it and has just chosen this password: earlier
 * guesses do not lock the owner out there. Remembers it for the name, and for the address if the account has verified
 * it.
 */
export async function rememberOwner(
  { sub, username, email, emailVerified }: Pick<Account, 'sub' | 'username' | 'email' | 'emailVerified'>,
  password: string,
  kit: Pick<EndpointKit, 'rememberAddress'>,
  {
    tenant,
    ...place
  }: {
    readonly clientAddress: string | undefined
    readonly client?: Client | undefined
    readonly tenant?: string | undefined
  },
): Promise<void> {
  const names = new Set([username, ...(emailVerified && email !== undefined ? [email] : [])])
  for (const name of names) {
    const credentials = { username: name, password, ...(tenant !== undefined && { tenant }) }
    await kit.rememberAddress(credentials, { sub, ...place })
  }
}

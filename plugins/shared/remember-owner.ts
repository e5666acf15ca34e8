import type { Client, EndpointKit } from '@grantry/core'
import type { Account } from './account-store.ts'

/**
 * Remembers the address of the owner of an account, who has proved it and has just chosen this password: guesses that were
 * made before do not lock the owner out there. Under the name, and under the address if it is one of the account.
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

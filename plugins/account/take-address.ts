import { isSameAddress } from '@grantry/core'
import type { Account, AccountStore } from '../shared/account-store.ts'
import type { AccountNotice } from './account-pages.ts'
import { accountOf, callAccounts } from './accounts.ts'
import { mailChange, noteChange } from './changes.ts'
import type { AccountServices } from './services.ts'
import { mayStillChange, type Visit } from './visit.ts'

/** Whether the user signs in with the address. Then the user name changes with the address. */
export const signsInWithAddress = ({ username, email }: Account): boolean =>
  email !== undefined && isSameAddress(username, email)

/** How often an address is taken back from an account that other requests change at the same moment. */
const maxTries = 5

/**
 * Restores the former address. Other changes since then stay, and so does another new address. Without a former
 * address, or if another account has it now, the new address stays, but is not verified.
 */
async function takeBack(before: Account, taken: Account, visit: Visit, services: AccountServices): Promise<void> {
  const { sub, username, email, emailVerified } = before
  const change = (changes: Parameters<AccountStore['change']>[1]) =>
    callAccounts(visit, services, (store) => store.change(sub, changes))
  const address = email === undefined ? { emailVerified: false } : { email, emailVerified }
  let current: Account | undefined = taken
  for (let tries = 0; tries < maxTries; tries += 1) {
    if (current?.email === undefined || !isSameAddress(current.email, taken.email ?? '')) return
    // Restores the user name, too, even if only the address was changed: for some stores, both are the same member.
    const name = current.username === taken.username ? { username } : {}
    const outcome = await change({ ...address, ...name, version: current.version })
    if (outcome === 'taken') break
    if (outcome !== undefined) return
    current = await accountOf(visit, services)
  }
  if ((await change({ emailVerified: false })) === 'taken')
    throw new Error('The store has refused to take an address back')
}

/** Changes the address that a code has proved. */
export async function takeAddress(
  { address, before }: { readonly address: string; readonly before: string },
  visit: Visit,
  services: AccountServices,
): Promise<AccountNotice> {
  const { session } = visit
  const account = await accountOf(visit, services)
  if (account === undefined || (account.email ?? '') !== before) return 'gone'
  const changes = {
    email: address,
    emailVerified: true,
    ...(signsInWithAddress(account) && { username: address }),
    version: account.version,
    isStillAllowed: () => mayStillChange(visit, services),
  }
  const outcome = await callAccounts(visit, services, (store) => store.change(session.subject.sub, changes))
  if (outcome === undefined) return 'gone'
  if (outcome === 'taken') return 'address_taken'
  let isStillAllowed = false
  try {
    isStillAllowed = await mayStillChange(visit, services)
  } finally {
    // A revocation does not change the account, so the write did not fail. A thief could recover the account by the
    // new address.
    if (!isStillAllowed) await takeBack(account, outcome, visit, services)
  }
  if (!isStillAllowed) return 'gone'
  // Mails the former address, so that its owner learns of a change by a thief.
  if (account.emailVerified && account.email !== undefined && !isSameAddress(account.email, address)) {
    await mailChange('address_changed', account.email, visit, services)
  }
  await noteChange('address_changed', visit, services)
  return 'address_changed'
}

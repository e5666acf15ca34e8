import type { MaybePromise } from '@grantry/core'
import type { Account, AccountStore } from '../shared/account-store.ts'
import type { AccountServices } from './services.ts'
import type { Visit } from './visit.ts'

/**
 * Calls a function of the store of accounts, with the limits of host functions. Returns `undefined` without a store.
 */
export async function callAccounts<T>(
  { kit }: Pick<Visit, 'kit'>,
  { accounts }: Pick<AccountServices, 'accounts'>,
  call: (store: AccountStore) => MaybePromise<T>,
): Promise<T | undefined> {
  return accounts && kit.callHost('account.accounts', () => call(accounts))
}

/** Returns the account of the user; `undefined` if the user has none in the store. */
export const accountOf = (visit: Visit, services: Pick<AccountServices, 'accounts'>): Promise<Account | undefined> =>
  callAccounts(visit, services, (store) => store.find(visit.session.subject.sub))

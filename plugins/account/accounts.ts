import type { MaybePromise } from '@grantry/core'
import type { Account, AccountStore } from '../shared/account-store.ts'
import type { AccountServices } from './services.ts'
import type { Visit } from './visit.ts'

/** Calls the store of accounts, which is a function of the host; `undefined` without one. */
export async function callAccounts<T>(
  { kit }: Pick<Visit, 'kit'>,
  { accounts }: Pick<AccountServices, 'accounts'>,
  call: (store: AccountStore) => MaybePromise<T>,
): Promise<T | undefined> {
  return accounts && kit.callHost('account.accounts', () => call(accounts))
}

/** Finds the account of the user, if it is one that users change here. */
export const accountOf = (visit: Visit, services: Pick<AccountServices, 'accounts'>): Promise<Account | undefined> =>
  callAccounts(visit, services, (store) => store.find(visit.session.subject.sub))

import type { AccountPageOptions } from '@grantry/plugins/account'
import type { MailMessage } from '@grantry/plugins/self-service'
import type { TestProviderOptions } from '@grantry/testing'
import { hiddenFields } from '../authorization/browser.ts'
import { aliceAccount, memoryAccounts } from '../self-service/parties.ts'
import { type AccountSetUp, accountUri, type Browser, setUpAccount } from './parties.ts'

export const addressUri = `${accountUri}/email`
export const codeUri = `${accountUri}/email/code`

export { codeIn, wrongCode } from '../self-service/parties.ts'

export const bobAccount = {
  ...aliceAccount,
  sub: 'bob',
  username: 'bob',
  email: 'bob@example.com',
  password: 'bob-password',
}

/** A provider with the accounts of alice and bob, whose mails are kept. */
export async function setUpAddress(
  alice: Partial<typeof aliceAccount> = {},
  more: {
    readonly account?: Partial<AccountPageOptions>
    readonly provider?: Partial<TestProviderOptions>
    readonly endpoint?: AccountSetUp['endpoint']
    readonly signIn?: AccountSetUp['signIn']
  } = {},
) {
  const memory = memoryAccounts([{ ...aliceAccount, ...alice }, bobAccount])
  const mails: MailMessage[] = []
  const mailer = { send: (message: MailMessage) => void mails.push(message) }
  const f = await setUpAccount({
    account: { accounts: memory.store, mailer, ...more.account },
    endpoint: more.endpoint ?? {},
    signIn: more.signIn ?? {},
    provider: { users: { authenticate: memory.authenticate, claims: () => ({}) }, ...more.provider },
  })
  /** The mails to an address, when those that are on their way have arrived. */
  async function mailsTo(address: string): Promise<readonly MailMessage[]> {
    await f.provider.runTasks()
    return mails.filter(({ to }) => to === address)
  }
  /** Asks for a mail. */
  async function ask(browser: Browser, address: string) {
    return browser.submit(addressUri, { ...hiddenFields(await browser.open(addressUri)), address })
  }
  return { ...f, ...memory, mails, mailsTo, ask }
}

import type { AccountPageOptions } from '@grantry/plugins/account'
import type { TestProviderOptions } from '@grantry/testing'
import { hiddenFields } from '../authorization/browser.ts'
import { accountUri, setUpAccount } from './parties.ts'

const hang = (): Promise<never> => new Promise(() => {})

/** Users who send the form of a page at the same moment: each is another one. */
async function atPage(path: string, account: Partial<AccountPageOptions>, provider: Partial<TestProviderOptions>) {
  const f = await setUpAccount({ account, provider })
  let asked = 0
  const ask = async () => {
    asked += 1
    const { browser, page } = await f.signedIn(`user${asked}`, path)
    await browser.submit(`${accountUri}${path}`, hiddenFields(page))
  }
  return { ...f, ask }
}

/** Functions of the host in the options of the account page, by their names in events. */
export const accountCases = (limits: Partial<TestProviderOptions>) =>
  ({
    'account.downloadMore': [['account.downloadMore', () => atPage('/data', { downloadMore: hang }, limits)]],
  }) as const

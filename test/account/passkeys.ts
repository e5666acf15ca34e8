import { storedPasskeys } from '@grantry/plugins/passkeys'
import type { TestProviderOptions } from '@grantry/testing'
import { type Page, unescapeHtml } from '../authorization/browser.ts'
import { createAuthenticator } from '../sign-in/authenticator.ts'
import { accountUri, type Browser, setUpAccount } from './parties.ts'

export const addUri = `${accountUri}/passkeys/add`

/** The challenge of the page of a sign-in. */
export const challengeIn = ({ html }: Pick<Page, 'html'>): string =>
  /data-challenge="([\w-]{43})"/u.exec(html)?.[1] ?? ''

/** What the page passes to `navigator.credentials.create()`. */
export const optionsIn = ({ html }: Pick<Page, 'html'>) =>
  JSON.parse(unescapeHtml(/data-options="([^"]*)"/u.exec(html)?.[1] ?? '{}'))

export async function setUpPasskeys(provider: Partial<TestProviderOptions> = {}) {
  const passkeys = storedPasskeys()
  const f = await setUpAccount({ signIn: { passkeys }, account: { passkeys }, provider })
  /** Adds a passkey, as the script of the page does. */
  async function enrol(of: Browser, device = createAuthenticator(), name = 'Laptop') {
    const page = await of.open(addUri)
    const credential = device.register(optionsIn(page).challenge)
    return f.send(of, page, { credential, name })
  }
  return { ...f, passkeys, enrol }
}
